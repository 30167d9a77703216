// npm run recall -- file_… "what buyers are told"    takes a file from everybody, for good, and tells those who have paid for it
// Ends with 0: nobody can download it; 1: there is no such file; 2: it could not be done.
import { parseArgs } from 'node:util'
import { connect } from '../src/kit/database.ts'
import { Refusal } from '../src/kit/errors.ts'
import { recallFile } from '../src/products/recall.ts'
import { ownDatabase, settingsOrExit } from './own-database.ts'

const [RECALLED, NO_SUCH_FILE, NOT_DONE] = [0, 1, 2]
const USAGE = 'npm run recall -- file_… "what buyers are told"'
/** PostgreSQL’s, for a column or a table that is not there. */
const MISSING = new Set(['42703', '42P01'])

const wanted = readArguments()
const config = settingsOrExit(NOT_DONE)
let database: Awaited<ReturnType<typeof ownDatabase>> | undefined
let status = NOT_DONE
try {
  database = await ownDatabase(config)
  await recall(database.url)
  status = RECALLED
} catch (error) {
  if (error instanceof Refusal && error.code === 'file_not_found') status = NO_SUCH_FILE
  console.error(saidOf(error))
}
await database?.stop()
process.exit(status)

async function recall(url: string): Promise<void> {
  const { db, close } = connect({ connectionString: url }, { connections: 1, onError: () => {} })
  try {
    const { name, productName, withdrawnAt, reason, already, elsewhere } = await recallFile(db, wanted)
    const file = `${plain(name)} of ${plain(productName)}`
    if (already) {
      console.log(`Already recalled at ${withdrawnAt.toISOString()}: ${file}. What buyers are told: ${plain(reason)}`)
    } else {
      console.log(`Recalled: ${file}, with every copy its seller has. Nobody can download it any more.`)
      console.log(
        'Everybody who has paid for it is told by mail, by the service, within a minute or two while it runs.',
      )
    }
    if (elsewhere.length > 0) console.log('Other sellers have the same bytes, which are not withdrawn:')
    for (const other of elsewhere)
      console.log(`  ${other.fileId}  ${plain(other.productName)}, by ${plain(other.sellerName)}`)
  } finally {
    await close()
  }
}

function saidOf(error: unknown): string {
  if (error instanceof Refusal) return error.message
  if (MISSING.has((error as { code?: string }).code ?? ''))
    return 'It could not be recalled: the database is older than this program. Start the service once.'
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

/** A seller’s words, with nothing in them that a terminal obeys. */
function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '?')
}
