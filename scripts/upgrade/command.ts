import { spawnSync } from 'node:child_process'

/** A failure that the operator can act on: printed without a stack. */
export class Failure extends Error {}

export function say(line: string): void {
  console.log(line)
}

/** Runs a program to its end and returns its output. Throws with its errors when it fails. */
export function output(program: string, ...args: string[]): string {
  const { status, error, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Failure(`${program} ${args.join(' ')} failed: ${error?.message ?? stderr.trim()}`)
  return stdout.trim()
}

/** The same, or undefined when it fails. */
export function outputOr(program: string, ...args: string[]): string | undefined {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

/** Why the step failed, or undefined when it did not. */
export function failureOf(step: () => unknown): string | undefined {
  try {
    step()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

interface Where {
  cwd?: string
  shell?: boolean
}

/** Runs a program to its end and shows its output. Returns its exit status. */
export const shownStatus = (program: string, args: string[], options: Where = {}): number | null =>
  spawnSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'], ...options }).status

/** The same. Returns whether it succeeded. */
export const show = (program: string, args: string[], options: Where = {}): boolean =>
  shownStatus(program, args, options) === 0
