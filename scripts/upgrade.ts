// npm run upgrade    fetches the next release, sets it up beside the running one and backs up, and only then stops the service, changes to
//                    the new release and starts it; goes back to the present one when the change fails or /readyz is not up in time
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { tryLock } from '../src/kit/lock.mjs'
import { Failure, failureOf, say } from './upgrade/command.ts'
import { changeTo, forget, goBack, isBrokenOff, whyRefused } from './upgrade/change.ts'
import { type Release, chooseRelease, prepareRelease } from './upgrade/release.ts'
import { backUp } from './upgrade/backup.ts'
import { refuseOtherPostgres } from './upgrade/postgres.ts'
import { type Runner, openRunner } from './upgrade/runner.ts'

const USAGE = `npm run upgrade -- [--to=v1.2.3] [--service=till | --stop='…' --start='…'] [--url=http://127.0.0.1:4000] [--ready-within=60]
  --to            a tag or commit; else the newest tag, or the branch's newest commit where the releases have no tags
  --service       the systemd unit that runs the service
  --stop --start  the commands that stop and start it, when something else runs it
  --url           where it answers on this machine
  --ready-within  so many seconds after its start /readyz must be up
Without --service and --stop the service must be stopped. The new release is then started for a moment, to see that it becomes ready.`
const WORK = '.upgrade'
/** The release before gets at least this time: there is nothing else to go back to. */
const GOING_BACK_MS = 300_000

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
    say(await startBefore(runner, 'An earlier upgrade was broken off', readyWithinMs))
  }
  const release = chooseRelease(to)
  if (!release) return say('This is the newest release.')
  await runner.refuseRunning()
  say(`From ${release.from.slice(0, 12)} to ${release.name}.`)
  refuseOtherPostgres(release)
  await refuseObstacles(release, runner)
  prepareRelease(release, WORK)
  backUp()
  // both can take long, so somebody may have put another file here
  await refuseObstacles(release, runner)

  await runner.stop()
  const failure = failureOf(() => changeTo(release, WORK))
  if (failure) {
    say(`The change to ${release.name} failed. Going back.`)
    throw new Failure(await startBefore(runner, `${failure}\nThe change to ${release.name} failed`, readyWithinMs))
  }
  say(`Changed to ${release.name}. Starting it …`)
  const problem = await runner.start(readyWithinMs)
  if (!problem) {
    forget(WORK)
    return say(`${release.name} is ready. ${await runner.leave()}`.trim())
  }
  say(`${problem} Going back.`)
  await runner.stop()
  throw new Failure(await startBefore(runner, `${release.name} did not become ready`, readyWithinMs))
}

async function refuseObstacles(release: Release, runner: Runner): Promise<void> {
  const refusal = whyRefused(release)
  if (!refusal) return
  const service = (await runner.isRunning()) ? ', and the service still runs' : ''
  throw new Failure(
    `git refuses the change to ${release.name}: ${refusal}\nMove that file away, or undo its changes, and run the upgrade again. Nothing was changed${service}.`,
  )
}

/** Puts the release before back, starts it, and returns the sentence that tells how that ended. */
async function startBefore(runner: Runner, what: string, readyWithinMs: number): Promise<string> {
  const failure = failureOf(() => goBack(WORK))
  // a mixture of two releases must not sell
  if (failure)
    throw new Failure(
      `${what}, and the release before it could not be put back: ${failure}\nThe service is stopped. Fix this and run the upgrade again: it goes back first.`,
    )
  const again = await runner.start(Math.max(readyWithinMs, GOING_BACK_MS))
  const advice = await runner.leave()
  return again
    ? `${what}, and the release before it does not become ready: ${again} "npm run doctor" finds out more.`
    : `${what}, so the release before it is back, with all data. ${advice}`.trim()
}
