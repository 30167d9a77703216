/** Tells the operator in one line why the service does not start: which setting or folder is wrong, and what to do. */
export class CannotStart extends Error {}

/** Turns an error of the file system into a `CannotStart`. Returns any other error unchanged. */
export function folderProblem(setting: string, folder: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (!syscall) return error
  const advice =
    code === 'ENOSPC' ? 'make room' : 'let the account that runs Till read and write it, or name another folder'
  return new CannotStart(`${setting}: ${folder} cannot be used (${code}): ${advice}.`, { cause: error })
}
