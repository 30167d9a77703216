import { sha256 } from '@noble/hashes/sha2.js'

/** Large enough that asking costs nothing, small enough that a phone has room for it. */
const PIECE_BYTES = 4 * 1024 * 1024

/** Reads a file piece by piece, says how far it is, and at last its SHA-256. The browser's own hash takes whole files only. */
async function read(file: File): Promise<void> {
  const hash = sha256.create()
  for (let at = 0; at < file.size; at += PIECE_BYTES) {
    hash.update(new Uint8Array(await file.slice(at, at + PIECE_BYTES).arrayBuffer()))
    postMessage({ share: Math.min(1, (at + PIECE_BYTES) / file.size) }, { transfer: [] })
  }
  postMessage(
    { sha256: [...hash.digest()].map((byte) => byte.toString(16).padStart(2, '0')).join('') },
    { transfer: [] },
  )
}

addEventListener('message', ({ data }: MessageEvent<File>) => {
  read(data).catch(() => postMessage({ failed: true }, { transfer: [] }))
})
