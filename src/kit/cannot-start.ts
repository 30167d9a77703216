/** Why the service does not start, in one line for the operator: which setting or folder is wrong, and what to do. */
export class CannotStart extends Error {}

/** A system's refusal of a folder or a file, in one line; any other error stays what it is. */
export function troubleWith(setting: string, folder: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (!syscall) return error
  const advice =
    code === 'ENOSPC' ? 'make room' : 'let the account that runs Till read and write it, or name another folder'
  return new CannotStart(`${setting}: ${folder} cannot be used (${code}): ${advice}.`, { cause: error })
}
