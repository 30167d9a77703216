import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runOn } from '../support/databases.ts'
import { bareEnvironment, startService } from '../support/service.ts'
import { SECRET, newDatabase, temporaryFolder } from '../support/shop.ts'

// These tests run the commands of the documents, document by document.

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'client/README.md',
  ...fs.readdirSync(path.join(ROOT, 'docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`), // oxfmt-ignore
]
const TYPED_BY_A_TEST = [
  // the test run itself, and programs that other tests start as these commands do
  /^npm (?:start|test|ci)\b/,
  /^npm run (?:idp|client|bench|launch-day|rolling-upgrade|major-version|image-test|compose-test|server-test|instances|failover|pooler|format|client-types|simulate|add)\b/,
  // these need a real file, order or account: their own tests run them (recalled files, trust, doctor, upgrade, backup)
  /^npm run (?:withdraw|recall|trust|doctor|operator|upgrade|upgrade-database|backup|restore|drill)\b/,
  // other people's programs
  /^(?:stripe|sudo|docker|dokku|systemctl|pg_dump|pg_restore|psql|useradd|chmod|mkdir|install|tar|cp|mv|PORT=\d+ npm)\b/,
]
/** The further ones of these documents say that the commands of the first come before theirs. */
const CONTINUES = 'docs/sellers.md'
const CONTINUED = ['docs/storage.md', 'docs/refunds.md', 'docs/webhooks.md', 'docs/payouts.md']
/** The demo's products, by the name of the variable that a document keeps one in. */
const DEMO: Record<string, string> = { PRODUCT: 'in dollars', FREE: 'for free', PWYW: 'pay what you want' }

/** A loop that waits for something which never comes must end. */
const LONGEST_MS = 1_800_000
/** The commands run in a folder of their own, and npm in ours. */
const NPM_HERE = `npm() { command npm --prefix '${ROOT}' "$@"; }`

const ends: (() => unknown)[] = []
let service: { url: string; output: () => string; env: Record<string, string> } | undefined
const shared = () => service ?? assert.fail('the service did not start')

before(async () => {
  const t = { after: (end: () => unknown) => void ends.push(end) }
  // money is due at once, so that no document waits for the end of a holding period
  const payouts = { OPERATORS: 'otto@example.com', PAYOUT_HOLD_DAYS: '0', SECRET }
  const DATABASE_URL = await newDatabase(t)
  // on a slow machine the commands take longer than a sign-in counts as recent
  await runOn(DATABASE_URL, `alter table sessions alter created_at set default now() + interval '1 hour'`)
  const env = { DATABASE_URL, DATA_DIR: await temporaryFolder(t), ...payouts }
  const { url, output } = await startService(t, env.DATA_DIR, env)
  const tools = toolsIn(await temporaryFolder(t))
  const bare = bareEnvironment()
  service = { url, output, env: { ...bare, ...env, PATH: `${tools}${path.delimiter}${bare['PATH']}` } }
})
after(async () => {
  for (const end of ends.reverse()) await end()
})

const blocksOf = (document: string): string[] =>
  [...fs.readFileSync(path.join(ROOT, document), 'utf8').matchAll(/^( *)```sh\n([\s\S]*?)^ *```$/gm)].map(
    ([, indent = '', text = '']) => text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )

/** The lines that a shell would run, without comments, and with continued lines joined. */
const linesOf = (block: string): string[] =>
  block.replaceAll(/\\\n\s*/g, ' ').split('\n').map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#')) // oxfmt-ignore

/** Only settings, with or without a command that is not for here. */
const isSettings = (line: string): boolean => /^(?:[A-Z][A-Z0-9_]*=(?:'[^']*'|\S+)\s*(?:#.*)?)+(?:npm \S+.*)?$/.test(line) // oxfmt-ignore

const isTyped = (block: string): boolean =>
  linesOf(block).some((line) => !isSettings(line) && !TYPED_BY_A_TEST.some((known) => known.test(line)))

for (const document of DOCUMENTS.filter((one) => !CONTINUED.includes(one))) {
  const chain = document === CONTINUES ? [document, ...CONTINUED] : [document]
  const blocks = chain.flatMap(blocksOf).filter(isTyped)
  if (blocks.length === 0) continue
  test(`every command of ${chain.join(', ')} works as written`, async (t) => {
    const { url, output, env } = shared()
    const script = blocks
      .join('\n')
      .replaceAll('http://127.0.0.1:4000', url)
      .replaceAll(
        /^# later: .*$/gm,
        `"${process.execPath}" "${path.join(ROOT, 'test', 'support', 'tools', 'end-hold.ts')}"`,
      )
      .replaceAll(/^(PRODUCT|FREE|PWYW)=prod_…/gm, (_, name: string) => `${name}=${demoProduct(output(), name)}`)
    assert.doesNotMatch(script, /…/, 'a placeholder is left that a newcomer cannot type')
    const { status, stdout, stderr } = spawnSync(
      'bash',
      ['--norc', '-euo', 'pipefail', '-c', `${NPM_HERE}\n${script}`],
      { cwd: await temporaryFolder(t), encoding: 'utf8', env, timeout: LONGEST_MS },
    )
    assert.equal(status, 0, `${stdout}\n${stderr}\n${output()}`)
    // jq prints null for a field that does not exist, and ends with 0
    assert.doesNotMatch(stdout, /^null /m, 'a command names a field that the answer does not have')
  })
}

test('every npm command in a document is one of package.json', () => {
  const { scripts } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'))
  for (const document of DOCUMENTS)
    for (const [, name = ''] of fs
      .readFileSync(path.join(ROOT, document), 'utf8')
      .matchAll(/\bnpm run (?:-s )?([\w-]+)/g))
      assert(name in scripts, `${document} names npm run ${name}`)
})

test('every setting in a document’s commands is one of docs/settings.md', () => {
  const settings = fs.readFileSync(path.join(ROOT, 'docs', 'settings.md'), 'utf8')
  for (const document of DOCUMENTS)
    for (const line of blocksOf(document)
      .filter((block) => !isTyped(block))
      .flatMap(linesOf)
      .filter(isSettings))
      // oxfmt-ignore
      for (const [, name = ''] of line.matchAll(/(?:^|\s)([A-Z][A-Z0-9_]*)=/g))
        assert(settings.includes(name.replace(/_FILE$/, '')), `${document}: ${name}`)
})

function demoProduct(printed: string, name: string): string {
  const found = new RegExp(`${DEMO[name]}\\s+\\S+product=(prod_\\w+)`).exec(printed)?.[1]
  assert(found, `the start prints no demo product "${DEMO[name]}":\n${printed}`)
  return found
}

/** curl and jq, where the machine has none; and a curl that fails on a refusal, so that no refusal passes unseen. */
function toolsIn(folder: string): string {
  const has = (name: string) => spawnSync(name, ['--version']).status === 0
  const tool = (name: string) =>
    `exec "${process.execPath}" "${path.join(ROOT, 'test', 'support', 'tools', `${name}.ts`)}"`
  const real = spawnSync('bash', ['-c', 'command -v curl'], { encoding: 'utf8' }).stdout.trim()
  const curl = has('curl') ? `exec "${real}"` : tool('curl')
  fs.writeFileSync(path.join(folder, 'curl'), `#!/bin/sh\n${curl} --fail-with-body "$@"\n`, { mode: 0o755 })
  if (!has('jq')) fs.writeFileSync(path.join(folder, 'jq'), `#!/bin/sh\n${tool('jq')} "$@"\n`, { mode: 0o755 })
  return folder
}
