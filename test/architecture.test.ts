import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The slices, in the order in which they may know each other; then the modules that put them together. */
const SLICES = [
  'kit',
  'words',
  'tax-ids',
  'ledger',
  'processors',
  'sellers',
  'events',
  'products',
  'taxes',
  'orders',
  'buyers',
  'invoices',
  'payments',
  'payouts',
  'shop',
  'webhooks',
  'checkout',
  'backup',
  'operator',
  'pages',
  'agents',
]
const WIRING: Record<string, string[]> = {
  config: ['kit', 'processors', 'config', 'config.ts'],
  'config.ts': ['kit', 'config'],
  app: [...SLICES, 'app', 'config.ts'],
  'app.ts': [...SLICES, 'app', 'config.ts'],
  'main.ts': ['kit', 'app.ts', 'config.ts'],
}
/** The modules that the pages may import from the server beside types. These import nothing themselves. */
const SHARED = [
  'sellers/accent.ts',
  'events/event-types.ts',
  'kit/code-limits.ts',
  'kit/currencies.ts',
  'kit/digits.ts',
  'kit/locales.ts',
  'kit/money.ts',
  'kit/order-number.ts',
  'kit/return-path.ts',
  'kit/statement.ts',
  'words/say.ts',
]
const LONGEST_FILE = 250
/** The texts of one language: a list, however long. */
const LIST_OF_WORDS = /^words\/[a-z]{2}(-[a-z]+)?\.ts$/

interface Source {
  /** Below src/, with forward slashes. */
  file: string
  text: string
  /** Without comments. */
  code: string
}

function sources(folder: string): Source[] {
  const below = path.join(ROOT, folder)
  return fs
    .readdirSync(below, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => {
      const text = fs.readFileSync(path.join(below, file), 'utf8')
      const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
      return { file: file.replaceAll('\\', '/'), text, code }
    })
}

const all = sources('src')
const src = all.filter(({ file }) => !file.endsWith('.test.ts'))
const tests = [...all.filter(({ file }) => file.endsWith('.test.ts')), ...sources('test')]

const importsOf = (code: string): string[] =>
  [...code.matchAll(/^(?:import|export)\b[^'"=:;(]*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm)].map(
    ([, name, dynamic]) => name ?? dynamic!,
  )

/** The slice a file belongs to, or the file itself where it stands beside them. */
const roomOf = (file: string): string => file.split('/')[0]!

const where = (chosen: Source[], pattern: RegExp) =>
  chosen.filter(({ code }) => pattern.test(code)).map(({ file }) => file)

test('all folders of the code exist', () => {
  assert(src.length > 40)
  assert.deepEqual([...new Set(src.map(({ file }) => roomOf(file)))].sort(), [...SLICES, ...Object.keys(WIRING)].sort())
})

test('a folder imports only folders before it', () => {
  for (const { file, code } of src) {
    const room = roomOf(file)
    const known = WIRING[room] ?? SLICES.slice(0, SLICES.indexOf(room) + 1)
    for (const name of importsOf(code).filter((one) => one.startsWith('.'))) {
      const target = path.posix.normalize(path.posix.join(path.posix.dirname(file), name))
      assert(fs.existsSync(path.join(ROOT, 'src', target)), `${file} imports ${name}`)
      assert(known.includes(roomOf(target)), `${file} must not know ${target}`)
    }
  }
})

test('no file imports itself through others, also not for a type', () => {
  const imports = new Map(
    [...all, ...sources('web').map((one) => ({ ...one, file: `../web/${one.file}` }))].map(({ file, code }) => [
      file,
      // modules that are loaded later, when they are needed, may import earlier ones
      [...code.matchAll(/^(?:import|export)\b[^'"=:;(]*['"](\.[^'"]+)['"]/gm)]
        .map(([, name]) => name!)
        .map((name) => path.posix.normalize(path.posix.join(path.posix.dirname(file), name))),
    ]),
  )
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (file: string, above: readonly string[]): void => {
    if (above.includes(file)) return void circles.push([...above.slice(above.indexOf(file)), file].join(' → '))
    if (done.has(file)) return
    for (const next of imports.get(file) ?? []) visit(next, [...above, file])
    done.add(file)
  }
  for (const file of imports.keys()) visit(file, [])
  assert.deepEqual(circles, [])
})

test('the processors know no orders, sellers or products', () => {
  const tables = where(
    src.filter(({ file }) => file.startsWith('processors/')),
    /\b(?:from|into|update|join)\s+(?:orders|products|payments|sellers|files|transfers|captures|refunds|disputes)\b/,
  )
  assert.deepEqual(tables, [])
})

test('the kit does not know orders or products', () => {
  const words = /\b(order|orders|seller|buyer|product|refund|dispute|checkout)s?\b/i
  const tables = where(
    src.filter(({ file }) => file.startsWith('kit/')),
    /\b(?:from|into|update|join)\s+(?:orders|products|payments|sellers|files|transfers)\b/,
  )
  assert.deepEqual(tables, [])
  for (const { file, code } of src.filter(
    (one) => one.file.startsWith('kit/') && !['kit/errors.ts', 'kit/ids.ts'].includes(one.file),
  ))
    assert.doesNotMatch(code.replaceAll(/'[^']*'|`[^`]*`/g, ''), words, file)
})

test('every import is of a package that package.json names', () => {
  const { dependencies, devDependencies } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'))
  const packageOf = (name: string) =>
    name
      .split('/')
      .slice(0, name.startsWith('@') ? 2 : 1)
      .join('/')
  for (const { file, code } of src)
    for (const name of importsOf(code).filter((one) => !/^(\.|node:)/.test(one)))
      assert(packageOf(name) in dependencies, `${file} imports ${name}`)
  for (const { file, code } of tests)
    for (const name of importsOf(code).filter((one) => /^[@a-z][\w@/.-]*$/.test(one) && !one.startsWith('node:')))
      assert(packageOf(name) in { ...dependencies, ...devDependencies }, `${file} imports ${name}`)
})

test('only one file reads the environment', () => {
  assert.deepEqual(where(src, /process\.env|process\['env'\]|import\.meta\.env|loadEnvFile/), ['config.ts'])
  assert.deepEqual(where(src, /NODE_ENV/), [])
})

test('one table has the statuses of all refusals', () => {
  // in addition to the table: the bare connection comes before it, the file server returns statuses that are below it, and the
  // providers' responses are read and not sent
  assert.deepEqual(
    where(src, /\bstatus\w*\b[^'"`\n]*\b[45]\d\d\b|\.(?:code|status)\(\s*[45]\d\d|statusCode\s*=/).sort(),
    ['kit/errors.ts', 'kit/refusals.ts', 'orders/routes.ts'],
  )
})

test('files are short', () => {
  const limited = all.filter(({ file }) => !file.endsWith('.test.ts') && !LIST_OF_WORDS.test(file))
  for (const { file, text } of limited) {
    const lines = text.split('\n').length - 1
    assert(lines <= LONGEST_FILE, `${file} has ${lines} lines: where is the second room?`)
  }
})

test('names describe the thing', () => {
  for (const { file } of all) {
    assert.doesNotMatch(file, /(^|\/)(utils?|helpers?|types?|common|misc|index|service|manager)\.tsx?$/)
    assert.match(file, /^[a-z0-9/-]+(\.test)?\.ts$/)
  }
})

test('no file bypasses the types, or has a to-do', () => {
  assert.deepEqual(where(src, /\bas any\b|[:<(|&]\s*any\b|@ts-(?:ignore|nocheck|expect-error)/), [])
  assert.deepEqual(
    all.filter(({ text }) => /\b(?:TODO|FIXME|XXX|HACK)\b/.test(text)).map(({ file }) => file),
    [],
  )
  assert.deepEqual(
    where(
      src,
      /^\s*(?:export\s+)?(?:const\s+)?enum\s|\bnamespace\s+\w+\s*\{|^\s*@\w+\(|export default|\beval\(|new Function\(/m,
    ),
    [],
  )
  assert.deepEqual(where(src, /console\.|debugger/), [])
})

test('every test runs, and no test is skipped or focused', () => {
  const chosen = tests.filter(({ file }) => file !== 'architecture.test.ts')
  assert.deepEqual(
    where(
      chosen,
      /\b(?:test|it|describe|t)\.(?:skip|only|todo)\b|\b(?:skip|only|todo):\s*(?:true|['"`])|expectFailure/,
    ),
    [],
  )
})

test('every link in a document leads to an existing file', () => {
  const documents = [ROOT, path.join(ROOT, 'docs'), path.join(ROOT, 'client')].flatMap((folder) =>
    fs.readdirSync(folder).flatMap((name) => (name.endsWith('.md') ? [path.join(folder, name)] : [])),
  )
  assert(documents.length > 10)
  const broken = documents.flatMap((file) =>
    [...fs.readFileSync(file, 'utf8').matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)]
      .filter(([, target]) => !fs.existsSync(path.resolve(path.dirname(file), target!)))
      .map(([, target]) => `${path.relative(ROOT, file)}: ${target}`),
  )
  assert.deepEqual(broken, [])
})

test('no statement contains text from a request', () => {
  // sql.raw and sql.lit write a text into a statement as it is: only migrations, settings and constants of ours are written this way
  assert.deepEqual(where(src, /sql\.(?:raw|lit|unsafe)\b/), ['kit/database.ts', 'kit/migrate.ts', 'kit/plans.ts'])
  assert.deepEqual(
    where(
      src.filter(({ file }) => !file.startsWith('kit/')),
      /\.query\(\s*`/,
    ),
    [],
  )
})

test('the pages import only a few modules and types of the server', () => {
  for (const { file, code } of sources('web').filter((one) => !one.file.endsWith('.test.ts'))) {
    for (const line of code.split(/\n(?=import|export)/)) {
      for (const name of importsOf(line).filter((one) => one.includes('/src/'))) {
        const isType = line.trim().startsWith('import type')
        assert(isType || SHARED.some((one) => name.endsWith(`/src/${one}`)), `web/${file} imports ${name}`)
      }
      assert(!importsOf(line).some((name) => name.startsWith('node:')), `web/${file}`)
    }
  }
  for (const one of SHARED) assert.deepEqual(importsOf(src.find(({ file }) => file === one)!.code), [], one)
})

test('the shop’s views do not share class names', () => {
  // data that one view has loaded stays for the next one
  const shop = path.join(ROOT, 'web/shop')
  const sheets = fs.globSync('*/*.css', { cwd: shop })
  const takenBy = new Map<string, string>()
  for (const sheet of sheets) {
    const text = fs.readFileSync(path.join(shop, sheet), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')
    for (const [, name] of text.matchAll(/(?:^|[{},])\s*\.([a-z-]+)(?=[\s,{:>])(?=[^{};]*\{)/g)) {
      const other = takenBy.get(name!)
      assert(other === undefined || other === sheet, `.${name} is in ${sheet} and in ${other}`)
      takenBy.set(name!, sheet)
    }
  }
  assert(takenBy.size > 40)
})
