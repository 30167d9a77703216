// @ts-check
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const UNIT_TESTS = ['src/**/*.test.ts', 'test/**/*.test.ts', 'web/**/*.test.ts']
/** Files that need a process of their own: they measure its memory, set its clock, or take very long. */
const ALONE = [
  'test/simulation/simulation',
  'test/simulation/simulation-bugs',
  'test/operation/backup',
  'test/operation/backup-copies',
  'test/operation/backup-gaps',
  'test/operation/faults',
  'test/operation/doctor',
  'test/operation/drill',
  'test/operation/rolling',
  'test/operation/upgrade',
  'test/kit/card-numbers',
  'test/products/images',
  'test/products/uploads',
  'test/products/bucket-uploads',
  'src/kit/bodies',
  'src/kit/embedded',
].map((name) => `${name}.test.ts`)
/** These begin first, so that none of them runs alone at the end. */
const LONG = [
  'backup-1',
  'backup-gaps-1',
  'simulation-1',
  'faults-1',
  'test-operation-1',
  'test-payments-1',
  'simulation-bugs-1',
]
/** The other files of a folder share processes: to load the service and to warm it up costs more than most files. */
const FILES_OF_A_PROCESS = 16
const GROUPS = path.join('node_modules', '.cache', 'test-groups')
/** A page for the tests of web/, whose modules read it when they load. */
const PAGE = path.join('test', 'support', 'page.ts')
/** Each group adds a line with its CPU time here when it ends. */
const COSTS = path.join(GROUPS, 'costs.ndjson')
const DEAREST = 12

/** Every test file, each in one process only. */
export function allGroups() {
  fs.rmSync(GROUPS, { recursive: true, force: true })
  const found = UNIT_TESTS.flatMap((pattern) => fs.globSync(pattern)).map((file) => file.split(path.sep).join('/'))
  const together = Map.groupBy(found.filter((file) => !ALONE.includes(file)).sort(), (file) =>
    file.startsWith('test/') ? path.dirname(file) : file.slice(0, file.indexOf('/')),
  )
  const groups = [
    ...ALONE.filter((file) => found.includes(file)).flatMap((file) =>
      groupsOf(path.basename(file, '.test.ts'), [file]),
    ),
    ...[...together].flatMap(([name, files]) => groupsOf(name.replace('/', '-'), files)),
  ]
  const place = (/** @type {string} */ group) => {
    const at = LONG.indexOf(path.basename(group, '.test.mjs'))
    return at < 0 ? LONG.length : at
  }
  return groups.sort((one, other) => place(one) - place(other))
}

/**
 * Writes the modules that run these files, each as a suite, so that its hooks are its own.
 *
 * @param {string} name
 * @param {string[]} files
 */
export function groupsOf(name, files) {
  fs.mkdirSync(GROUPS, { recursive: true })
  fs.rmSync(COSTS, { force: true })
  const count = Math.ceil(files.length / FILES_OF_A_PROCESS)
  const size = Math.ceil(files.length / count)
  return Array.from({ length: count }, (_, at) => {
    const suites = files.slice(at * size, (at + 1) * size).map((file) => {
      const [url, page] = [file, PAGE].map((one) => JSON.stringify(pathToFileURL(path.resolve(one)).href))
      const first = file.startsWith('web/') ? `await import(${page}); ` : ''
      return `describe(${JSON.stringify(file)}, async () => { ${first}await import(${url}) })`
    })
    const group = path.resolve(GROUPS, `${name}-${at + 1}.test.mjs`)
    fs.writeFileSync(
      group,
      ["import { after, describe } from 'node:test'", ...suites, ...noteCost(group), ...END, ''].join('\n'),
    )
    return group
  })
}

/** A failed test can leave a server open, which would keep the group's process alive, and the whole run would never end. */
const END = [
  'after(() => {',
  '  const end = () => {',
  "    console.error(`still open: ${process.getActiveResourcesInfo().join(', ')}`)",
  '    process.exit(1)',
  '  }',
  '  setTimeout(end, 60_000).unref()',
  '})',
]

/** @param {string} group */
function noteCost(group) {
  const module = pathToFileURL(path.resolve('scripts', 'cpu-seconds.mjs')).href
  const name = path.basename(group, '.test.mjs')
  return [
    "import fs from 'node:fs'",
    `import { cpuSeconds } from ${JSON.stringify(module)}`,
    "process.once('exit', () => {",
    `  const line = JSON.stringify({ group: ${JSON.stringify(name)}, seconds: cpuSeconds() })`,
    `  fs.appendFileSync(${JSON.stringify(path.resolve(COSTS))}, line + '\\n')`,
    '})',
  ]
}

/**
 * The groups that took the most CPU time, with all that they started.
 *
 * @returns {{ group: string, seconds: number }[]}
 */
export function dearest() {
  if (!fs.existsSync(COSTS)) return []
  const lines = fs.readFileSync(COSTS, 'utf8').trim().split('\n')
  const costs = lines.map((line) => JSON.parse(line)).filter(({ seconds }) => seconds)
  return costs.sort((one, other) => other.seconds - one.seconds).slice(0, DEAREST)
}
