// npm run trust -- ann@shop.example          marks a seller as trusted, by address or id; with --end, as not trusted
// A seller who has waited for the approval gets a mail.
// Ends with 0: done, also if it was so before; 1: there is no such seller; 2: it could not be done.
import { parseArgs } from 'node:util'
import { connect } from '../src/kit/database.ts'
import { Refusal } from '../src/kit/errors.ts'
import { startJobs } from '../src/kit/jobs.ts'
import { newLog } from '../src/kit/log.ts'
import { MACHINE } from '../src/operator/log.ts'
import { approveSeller, endApproval, findSeller, sellerIdOf } from '../src/operator/sellers.ts'
import { ownDatabase, settingsOrExit } from './own-database.ts'
import { plain } from './terminal-text.ts'

const [DONE, NO_SUCH_SELLER, NOT_DONE] = [0, 1, 2]
const USAGE = 'npm run trust -- ann@shop.example [--end]'

const { seller, end } = readArguments()
const config = settingsOrExit(NOT_DONE)
let database: Awaited<ReturnType<typeof ownDatabase>> | undefined
let status = NOT_DONE
try {
  database = await ownDatabase(config)
  status = await trust(database.url)
} catch (error) {
  console.error(`It could not be done: ${(error as Error).message}`)
}
await database?.stop()
process.exit(status)

async function trust(url: string): Promise<number> {
  const { db, close } = connect({ connectionString: url }, { connections: 1 })
  const jobs = await startJobs({ connectionString: url }, newLog('silent'))
  try {
    const sellerId = await sellerIdOf(db, seller)
    const isChanged = await (end ? endApproval : approveSeller)(db, jobs, MACHINE, sellerId)
    const { name, email } = await findSeller(db, sellerId)
    const named = `${plain(name)} <${plain(email)}>`
    const not = end ? 'not ' : ''
    console.log(isChanged ? `${named} is ${not}trusted from now on.` : `${named} was ${not}trusted before.`)
    return DONE
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    console.error('There is no seller with this address or id.')
    return NO_SUCH_SELLER
  } finally {
    await jobs.stop()
    await close()
  }
}

function readArguments(): { seller: string; end: boolean } {
  try {
    const { positionals, values } = parseArgs({ allowPositionals: true, options: { end: { type: 'boolean' } } })
    const [named, ...rest] = positionals
    if (named !== undefined && rest.length === 0) return { seller: named, end: values.end ?? false }
    console.error(USAGE)
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`)
  }
  return process.exit(NOT_DONE)
}
