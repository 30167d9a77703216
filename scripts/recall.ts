// npm run recall -- file_… "the reason, for buyers"    recalls a file for good; its buyers get a mail
// Ends with 0: the file is recalled; 1: there is no such file; 2: it could not be done.
import { parseArgs } from 'node:util'
import { connect } from '../src/kit/database.ts'
import { Refusal } from '../src/kit/errors.ts'
import { MACHINE } from '../src/operator/log.ts'
import { recallAsOperator } from '../src/operator/recall.ts'
import { ownDatabase, settingsOrExit } from './own-database.ts'
import { plain } from './terminal-text.ts'

const [RECALLED, NO_SUCH_FILE, NOT_DONE] = [0, 1, 2]
const USAGE = 'npm run recall -- file_… "the reason, for buyers"'
/** PostgreSQL's codes for a missing column or table. */
const MISSING = new Set(['42703', '42P01'])

const options = readArguments()
const config = settingsOrExit(NOT_DONE)
let database: Awaited<ReturnType<typeof ownDatabase>> | undefined
let status = NOT_DONE
try {
  database = await ownDatabase(config)
  await recall(database.url)
  status = RECALLED
} catch (error) {
  if (error instanceof Refusal && error.code === 'file_not_found') status = NO_SUCH_FILE
  console.error(messageFor(error))
}
await database?.stop()
process.exit(status)

async function recall(url: string): Promise<void> {
  const { db, close } = connect({ connectionString: url }, { connections: 1 })
  try {
    const { name, productName, recalledAt, reason, already, elsewhere } = await recallAsOperator(db, MACHINE, options)
    const file = `${plain(name)} of ${plain(productName)}`
    if (already) {
      console.log(`Already recalled at ${recalledAt.toISOString()}: ${file}. The reason for buyers: ${plain(reason)}`)
    } else {
      console.log(`Recalled: ${file}, with every copy its seller has. It can no longer be downloaded.`)
      console.log('While the service runs, it mails everybody who has paid for the file within a minute or two.')
    }
    if (elsewhere.length > 0) console.log('Other sellers have files with the same bytes, which are not recalled:')
    for (const other of elsewhere)
      console.log(`  ${other.fileId}  ${plain(other.productName)}, by ${plain(other.sellerName)}`)
  } finally {
    await close()
  }
}

function messageFor(error: unknown): string {
  if (error instanceof Refusal) return error.message
  if (MISSING.has((error as { code?: string }).code ?? ''))
    return 'It could not be recalled: the database is older than this version. Start the service once.'
  return `It could not be recalled: ${(error as Error).message}`
}

function readArguments(): { fileId: string; reason: string } {
  try {
    const { positionals } = parseArgs({ allowPositionals: true })
    const [fileId, reason, ...rest] = positionals
    if (fileId !== undefined && reason !== undefined && rest.length === 0) return { fileId, reason }
    console.error(USAGE)
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`)
  }
  return process.exit(NOT_DONE)
}
