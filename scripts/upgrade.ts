// npm run upgrade    fetches the next release, sets it up beside the running one and backs up, and only then stops the service, changes to
//                    the new release and starts it; goes back to the present one when /readyz is not up in time
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { tryLock } from '../src/kit/lock.mjs'
import { Failure, say } from './upgrade/command.ts'
import { type Way, changeTo, goBack, isBrokenOff } from './upgrade/change.ts'
import { chooseRelease, prepareRelease } from './upgrade/release.ts'
import { backUp } from './upgrade/backup.ts'
import { openRunner } from './upgrade/runner.ts'

const USAGE = `npm run upgrade -- [--to=v1.2.3] [--service=till | --stop='…' --start='…'] [--url=http://127.0.0.1:4000] [--ready-within=60]
  --to            a tag or commit; else the newest tag, or the branch's newest commit where the releases have no tags
  --service       the systemd unit that runs the service
  --stop --start  the commands that stop and start it, when something else runs it
  --url           where it answers on this machine
  --ready-within  so many seconds after its start /readyz must be up
Without --service and --stop the service must be stopped. The new release is then started for a moment, to see that it becomes ready.`
const WORK = '.upgrade'
/** The release before gets at least this time: there is nothing else to go back to. */
const GOING_BACK_MS = 60_000

process.chdir(path.resolve(import.meta.dirname, '..'))
try {
  const { values } = parseArgs({
    options: {
      to: { type: 'string' },
      service: { type: 'string' },
      stop: { type: 'string' },
      start: { type: 'string' },
      url: { type: 'string' },
      'ready-within': { type: 'string', default: '60' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) console.log(USAGE)
  else await upgrade({ ...values, readyWithinMs: Number(values['ready-within']) * 1000 })
} catch (error) {
  const { code = '' } = error as NodeJS.ErrnoException
  if (!(error instanceof Failure) && !code.startsWith('ERR_PARSE_ARGS')) throw error
  console.error(code ? `${(error as Error).message}\n${USAGE}` : (error as Error).message)
  process.exitCode = 1
}

interface Options {
  to?: string | undefined
  service?: string | undefined
  stop?: string | undefined
  start?: string | undefined
  url?: string | undefined
  readyWithinMs: number
}

async function upgrade({ to, readyWithinMs, ...how }: Options): Promise<void> {
  if (!(readyWithinMs > 0) || !how.stop !== !how.start) throw new Failure(USAGE)
  if (!fs.existsSync('.git'))
    throw new Failure('This folder is no git clone: put the new release in its place as you did with this one.')
  fs.mkdirSync(WORK, { recursive: true })
  if (!tryLock(path.join(WORK, 'lock'))) throw new Failure('Another upgrade is running here.')
  const runner = await openRunner(how)
  if (isBrokenOff(WORK)) {
    say('An earlier upgrade was broken off: going back to the release before it.')
    await runner.stop()
    goBack(WORK)
  }
  const release = chooseRelease(to)
  if (!release) return say('This is the newest release.')
  await runner.refuseRunning()
  say(`From ${release.from.slice(0, 12)} to ${release.name}.`)
  prepareRelease(release, WORK)
  backUp()

  await runner.stop()
  const way: Way = changeTo(release, WORK)
  say(`Changed to ${release.name}. Starting it …`)
  const problem = await runner.start(readyWithinMs)
  if (!problem) {
    way.keep()
    return say(`${release.name} is ready. ${await runner.leave()}`.trim())
  }
  say(`${problem} Going back.`)
  await runner.stop()
  goBack(WORK)
  const again = await runner.start(Math.max(readyWithinMs, GOING_BACK_MS))
  await runner.leave()
  throw new Failure(
    again
      ? `The release before does not become ready either: ${again} "npm run doctor" finds out more.`
      : `${release.name} did not become ready, so the release before it runs again, with all data.`,
  )
}
