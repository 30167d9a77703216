// npm run doctor                checks everything that the service needs, and says what to do
// npm run -s doctor -- --json   the same for programs
import { stripVTControlCharacters } from 'node:util'
import { examine } from './doctor/examine.ts'
import type { Finding } from './doctor/finding.ts'

const SIGNS = { fine: '✓', warning: '!', failure: '✗' } as const

const findings = await examine(process.env)
const count = (mark: Finding['mark']) => findings.filter((one) => one.mark === mark).length
const text = process.argv.includes('--json') ? JSON.stringify(findings, null, 2) : inLines(findings)
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
