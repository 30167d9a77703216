// npm run doctor                checks everything that the service needs, and says what to do
// npm run -s doctor -- --json   the same for programs
// npm run doctor -- --wait=60   waits up to 60 s for each answer (8), on a slow machine or network
import { parseArgs, stripVTControlCharacters } from 'node:util'
import { examine } from './doctor/examine.ts'
import { type Finding, patienceOf } from './doctor/finding.ts'

const SIGNS = { fine: '✓', warning: '!', failure: '✗' } as const

const { values: options } = parseArgs({
  options: { json: { type: 'boolean', default: false }, wait: { type: 'string', default: '8' } },
})
const waitSeconds = Number(options.wait)
if (!(waitSeconds >= 1 && waitSeconds <= 600)) {
  console.error('--wait: expected seconds from 1 to 600')
  process.exit(2)
}
const findings = await examine(process.env, patienceOf(waitSeconds))
const count = (mark: Finding['mark']) => findings.filter((one) => one.mark === mark).length
const text = options.json ? JSON.stringify(findings, null, 2) : inLines(findings)
const exitCode = count('failure') > 0 ? 1 : 0
// exits at once, because a check that hangs would keep the process alive
process.stdout.write(`${text}\n`, () => process.exit(exitCode))

function inLines(all: Finding[]): string {
  const width = Math.max(...all.map(({ about }) => about.length))
  const lines = all.flatMap(({ about, mark, says, advice }) => [
    `${SIGNS[mark]} ${about.padEnd(width)}  ${says}`,
    ...(advice && mark !== 'fine' ? [`  ${' '.repeat(width)}  → ${advice}`] : []),
  ])
  const sum = `${count('fine')} fine, ${count('warning')} to look at, ${count('failure')} wrong`
  // parts of the text come from other servers, so control characters are removed
  return [...lines.map((line) => stripVTControlCharacters(line).replaceAll(/[\p{Cc}]/gu, ' ')), '', sum].join('\n')
}
