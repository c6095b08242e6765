// Runs workflow scripts under a stub of their runtime and says what each started. Reads a JSON list on stdin.
const cases = JSON.parse(require('fs').readFileSync(0, 'utf8'))
const AsyncFunction = (async () => {}).constructor
const MOST = 3000

function random(seed) {
  let state = seed >>> 0
  return () => {
    state = (state * 1664525 + 1013904223) >>> 0
    return state / 4294967296
  }
}

async function run({ source, args, seed, total }) {
  const next = random(seed)
  const sizes = {}
  let agents = 0
  let rounds = 0
  let waiting = []
  let done = false
  const note = (name, number) => {
    sizes[name] = Math.max(sizes[name] || 0, Number.isNaN(number) ? 0 : number)
  }
  const answer = () => {
    const list = Array.from({ length: Math.floor(next() * 4) }, (_, i) => ({ name: `n${i}`, items: [1, 2].slice(0, Math.floor(next() * 3)) }))
    return { items: list, ok: next() < 0.5, count: Math.floor(next() * 4), text: 'words' }
  }
  const agent = () => {
    if (++agents > MOST) throw new Error('too many')
    return new Promise((resolve) => waiting.push(() => resolve(next() < 0.1 ? null : answer())))
  }
  const parallel = (thunks) => Promise.all(thunks.map(async (thunk) => { try { return await thunk() } catch { return null } }))
  const pipeline = (items, ...stages) =>
    Promise.all(items.map(async (item, index) => {
      let last = item
      for (const stage of stages) {
        try { last = await stage(last, item, index) } catch { return null }
        if (last === null) return null
      }
      return last
    }))
  const budget = { total, spent: () => agents * 10, remaining: () => (total === null ? Infinity : Math.max(0, total - agents * 10)) }
  const length = (list) => (list === null || list === undefined ? 0 : typeof list.length === 'number' ? list.length : typeof list.size === 'number' ? list.size : 0)
  const names = {
    agent, parallel, pipeline, budget, args, phase() {}, log() {},
    __items: (name, list) => { const here = typeof list?.next === 'function' ? [...list] : list; note(name, length(here)); return here },
    __value: (name, number) => (note(name, Math.max(0, Math.ceil(Number(number)))), number),
    __loop: (name, list) => ({ *[Symbol.iterator]() { let count = 0; for (const item of list) { note(name, ++count); yield item } note(name, count) } }),
    __keys: (name, held) => { let count = 0; for (const key in held) count += 1; note(name, count); return held },
    __rounds: (() => { const counts = {}; return (name) => note(name, (counts[name] = (counts[name] || 0) + 1)) })(),
  }
  let failed = ''
  const body = new AsyncFunction(...Object.keys(names), source)
  body(...Object.values(names)).catch((error) => { failed = String(error) }).finally(() => { done = true })
  for (let idle = 0; idle < 3; ) {
    await new Promise((resolve) => setImmediate(resolve))
    if (waiting.length) {
      const batch = waiting
      waiting = []
      rounds += 1
      idle = 0
      batch.forEach((resolve) => resolve())
    } else if (done) idle += 1
    if (agents > MOST) break
  }
  return { agents, rounds, sizes, failed }
}

;(async () => {
  process.on('unhandledRejection', () => {})
  const out = []
  for (const one of cases) out.push(await run(one))
  process.stdout.write(JSON.stringify(out), () => process.exit(0))
})()
