import { Refusal } from '../src/kit/errors.ts'
import { ownDatabase, settingsOrExit } from './own-database.ts'
import { plain } from './terminal-text.ts'

const [DONE, REFUSED, NOT_DONE] = [0, 1, 2]

/** The commands of a program, with the least and the most arguments of each. */
export type Commands<Command> = Readonly<Record<string, [least: number, most: number, run: Command]>>

/** A command gets the settings, the address of the database, and the arguments after the command's name. */
export interface CommandCall {
  config: ReturnType<typeof settingsOrExit>
  url: string
  given: readonly string[]
}

/**
 * Runs the command that the arguments of the process name, and prints its lines. Ends the process with 0: done; 1: refused; 2: it could
 * not be done, or there is no such command.
 */
export async function runCommand<Command>(
  commands: Commands<Command>,
  usage: string,
  run: (command: Command, call: CommandCall) => Promise<string[]>,
): Promise<never> {
  const [name = '', ...given] = process.argv.slice(2)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command || given.length < command[0] || given.length > command[1]) {
    console.error(usage)
    process.exit(NOT_DONE)
  }
  const config = settingsOrExit(NOT_DONE)
  let database: Awaited<ReturnType<typeof ownDatabase>> | undefined
  let status = NOT_DONE
  try {
    database = await ownDatabase(config)
    for (const line of await run(command[2], { config, url: database.url, given })) console.log(plain(line))
    status = DONE
  } catch (error) {
    if (error instanceof Refusal) status = REFUSED
    console.error(plain(error instanceof Refusal ? error.message : `It could not be done: ${(error as Error).message}`))
  }
  await database?.stop()
  // the end of the process would drop what the reader of a pipe has not taken yet; a reader such as head can have left
  process.stdout.on('error', () => {})
  await new Promise<void>((done) => process.stdout.write('', () => done()))
  process.exit(status)
}
