// The client against the real server, without VS Code and without npm: what is VS Code's is here as small as the client needs it,
// and messages are read and written by hand. FDC is the server's command, WORK a folder to work in.
'use strict';

const assert = require('node:assert');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const test = require('node:test');
const { pathToFileURL } = require('node:url');

const work = process.env.WORK;
const editor = { settings: {}, errors: [], commands: {}, trusted: true, granted: [] };

const vscode = {
  workspace: {
    get isTrusted() { return editor.trusted; },
    workspaceFolders: [{ uri: { fsPath: work } }],
    getConfiguration: () => ({ get: (name, other) => editor.settings[name] || other }),
    onDidGrantWorkspaceTrust: (then) => editor.granted.push(then),
  },
  window: { showErrorMessage: (text) => editor.errors.push(text) },
  commands: { registerCommand: (name, run) => { editor.commands[name] = run; } },
};

/** Speaks the protocol with the process that the extension names. */
class LanguageClient {
  static last;

  constructor(id, name, server, options) {
    Object.assign(this, { id, server: server.run, options, waiting: new Map(), heard: [], number: 0 });
    LanguageClient.last = this;
  }

  start() {
    return new Promise((done, fail) => {
      this.process = spawn(this.server.command, this.server.args, { stdio: ['pipe', 'pipe', 'inherit'] });
      this.process.on('error', fail);
      this.ended = new Promise((end) => this.process.on('exit', end));
      let data = Buffer.alloc(0);
      this.process.stdout.on('data', (more) => {
        data = Buffer.concat([data, more]);
        for (;;) {
          const head = data.indexOf('\r\n\r\n');
          const size = head < 0 ? null : /Content-Length: (\d+)/.exec(data.subarray(0, head))[1] * 1;
          if (size === null || data.length < head + 4 + size) return;
          this.hear(JSON.parse(data.subarray(head + 4, head + 4 + size)));
          data = data.subarray(head + 4 + size);
        }
      });
      const params = { processId: process.pid, rootUri: String(pathToFileURL(work)), capabilities: {} };
      this.ask('initialize', params).then((made) => {
        this.can = made.capabilities;
        this.tell('initialized', {});
        done();
      }, fail);
    });
  }

  hear(message) {
    const waits = this.waiting.get(message.id);
    if (waits) waits(message.result);
    else this.heard.push(message);
    if (this.noticed) this.noticed();
  }

  send(message) {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.process.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  tell(method, params) { this.send({ method, params }); }

  ask(method, params) {
    const id = ++this.number;
    return new Promise((done) => { this.waiting.set(id, done); this.send({ id, method, params }); });
  }

  async until(method) {
    for (;;) {
      const found = this.heard.find((message) => message.method === method);
      if (found) return found.params;
      await new Promise((done) => { this.noticed = done; });
    }
  }

  async stop() {
    await this.ask('shutdown');
    this.tell('exit');
    return this.ended;
  }
}

const load = Module._load;
Module._load = (name, ...more) => {
  if (name === 'vscode') return vscode;
  if (name === 'vscode-languageclient/node') return { LanguageClient, TransportKind: { stdio: 0 } };
  return load(name, ...more);
};
const extension = require('../extension.js');
const manifest = require('../package.json');

test('the extension starts the server, which finds what is wrong with a plan', async () => {
  editor.settings.path = process.env.FDC;
  await extension.activate({ subscriptions: [] });
  const client = LanguageClient.last;
  assert.deepEqual(editor.errors, []);
  assert.ok(client.can.renameProvider && client.can.inlayHintProvider && client.can.semanticTokensProvider);
  const [{ language }] = client.options.documentSelector;
  assert.equal(language, manifest.contributes.languages[0].id);
  const uri = String(pathToFileURL(path.join(work, 'new.plan')));
  client.tell('textDocument/didOpen', { textDocument: { uri, languageId: language, version: 1, text: 'raed_file 𝒳.md\n' } });
  const { diagnostics } = await client.until('textDocument/publishDiagnostics');
  assert.equal(diagnostics[0].code, 'FDC301');
  assert.equal(diagnostics[0].range.end.character, 'raed_file'.length);
  await editor.commands['fdc.restart']();
  assert.equal(await client.ended, 0);
  assert.notEqual(LanguageClient.last, client);
  await extension.deactivate();
  assert.equal(await LanguageClient.last.ended, 0);
});

test('an fdc that is not there is said, with what to install', async () => {
  editor.settings.path = path.join(work, 'no-such-fdc');
  await extension.activate({ subscriptions: [] });
  assert.match(editor.errors.join(), /pip install 'fdc-toolchain\[lsp\]'/);
});

test('the fdc of the workspace is preferred, and nothing is started where it is not trusted', async () => {
  editor.settings.path = '';
  editor.trusted = false;
  const before = LanguageClient.last;
  await extension.activate({ subscriptions: [] });
  assert.equal(LanguageClient.last, before);
  fs.mkdirSync(path.join(work, '.venv', 'bin'), { recursive: true });
  fs.writeFileSync(path.join(work, '.venv', 'bin', 'fdc'), '');
  await editor.granted[0]();
  assert.equal(LanguageClient.last.server.command, path.join(work, '.venv', 'bin', 'fdc'));
});
