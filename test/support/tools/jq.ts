// jq for a machine that has none: the real one, compiled to WebAssembly.
import fs from 'node:fs'
import { raw } from 'jq-wasm'

const args = process.argv.slice(2)
const flags = args.filter((arg) => arg.startsWith('-'))
const [filter = '.', file] = args.filter((arg) => !arg.startsWith('-'))
const said = await raw(
  fs.readFileSync(file ?? 0, 'utf8'),
  filter,
  flags.filter((flag) => flag !== '-e'),
)
process.stdout.write(said.endsWith('\n') || said === '' ? said : `${said}\n`)
// -e: the last value decides
if (flags.includes('-e') && /^(?:false|null)?$/.test(said.trim().split('\n').at(-1)!)) process.exitCode = 1
