import { type SpawnOptions, spawn } from 'node:child_process'

/**
 * Starts a tiny shell that waits until this process ends, even by kill -9: its standard input closes then. `script` begins with `read word`, and
 * `$1` is its argument. The returned function ends the input earlier, with a word or without.
 */
export function afterUs(script: string, argument: string, options: SpawnOptions = {}): (word?: string) => void {
  const shell = spawn('/bin/sh', ['-c', script, 'sh', argument], {
    ...options,
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  shell.on('error', () => {})
  shell.stdin!.on('error', () => {})
  shell.unref()
  ;(shell.stdin as unknown as { unref(): void }).unref()
  return (word) => shell.stdin!.end(word && `${word}\n`)
}
