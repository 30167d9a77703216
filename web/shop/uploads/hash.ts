import { Trouble } from '../../ui/api.ts'

/** The SHA-256 of a file in hex, read beside the page so that it stays quick. Ends when `signal` says so. */
export function hashOf(file: File, onShare: (share: number) => void, signal: AbortSignal): Promise<string> {
  const worker = new Worker(new URL('./hash-worker.ts', import.meta.url), { type: 'module' })
  return new Promise<string>((resolve, reject) => {
    worker.addEventListener(
      'message',
      ({ data }: MessageEvent<{ share?: number; sha256?: string; failed?: boolean }>) => {
        if (data.share !== undefined) onShare(data.share)
        else if (data.sha256) resolve(data.sha256)
        else reject(new Unreadable())
      },
    )
    // it says itself what it cannot read: this is the worker not coming
    worker.addEventListener('error', () => reject(new Trouble({ code: 'unreachable' })))
    signal.addEventListener('abort', () => reject(signal.reason as Error))
    worker.postMessage(file, [])
  }).finally(() => worker.terminate())
}

/** The browser cannot read the file: it was moved, changed or taken away since it was chosen. */
export class Unreadable extends Error {}
