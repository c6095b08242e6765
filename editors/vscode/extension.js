// The client of `fdc lsp` for VS Code: it finds the server, starts it, and hands it the plans.
'use strict';

const fs = require('fs');
const path = require('path');
const vscode = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

const INSTALL = "fdc could not be started: install it with `pip install 'fdc-toolchain[lsp]'`, or set `fdc.path`";
let client;

/** The command of the server: the setting, the workspace's own fdc, or the one on the PATH. */
function serverCommand() {
  const stated = vscode.workspace.getConfiguration('fdc').get('path', '');
  if (stated) {
    return stated;
  }
  const names = process.platform === 'win32' ? ['Scripts', 'fdc.exe'] : ['bin', 'fdc'];
  for (const folder of vscode.workspace.workspaceFolders || []) {
    const own = path.join(folder.uri.fsPath, '.venv', ...names);
    if (fs.existsSync(own)) {
      return own;
    }
  }
  return 'fdc';
}

/** Starts the server; says what to do where that fails. */
async function start() {
  const run = { command: serverCommand(), args: ['lsp', '--stdio'], transport: TransportKind.stdio };
  const options = { documentSelector: [{ language: 'fdc-plan' }] };
  client = new LanguageClient('fdc', 'fdc plans', { run, debug: run }, options);
  try {
    await client.start();
  } catch (failed) {
    client = undefined;
    vscode.window.showErrorMessage(`${INSTALL} (${failed.message || failed})`);
  }
}

async function stop() {
  const before = client;
  client = undefined;
  if (before) {
    await before.stop();
  }
}

async function activate(context) {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(vscode.commands.registerCommand('fdc.restart', restart));
  if (vscode.workspace.isTrusted) {
    await start();
  } else {
    context.subscriptions.push(vscode.workspace.onDidGrantWorkspaceTrust(start));
  }
}

module.exports = { activate, deactivate: stop };
