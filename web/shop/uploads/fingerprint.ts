import { sha256 } from '@noble/hashes/sha2.js'

const EDGE_BYTES = 1024 * 1024
/** Samples between the edges, evenly spread: a disk image or an archive can change in its middle alone. */
const SAMPLES = 64
const SAMPLE_BYTES = 4 * 1024

/**
 * Recognises a file that the seller chooses again: by its name, size, time of change, first and last megabyte, and
 * samples between those. It takes a moment however large the file is. It misses a change between two samples that
 * leaves size and time alone, because reading the whole file would take a minute. It does not check that all bytes
 * arrive: the service hashes the bytes that it stores. Throws `Unreadable`.
 */
export async function fingerprintOf(file: File): Promise<string> {
  const hash = sha256.create().update(new TextEncoder().encode(`${file.name}\n${file.size}\n${file.lastModified}\n`))
  for (const part of [file.slice(0, EDGE_BYTES), ...samplesOf(file), file.slice(-EDGE_BYTES)])
    hash.update(await bytesOf(part))
  return [...hash.digest()].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

function samplesOf(file: File): Blob[] {
  const inner = file.size - 2 * EDGE_BYTES
  if (inner <= 0) return []
  const starts = Array.from({ length: SAMPLES }, (_, index) => EDGE_BYTES + Math.floor((inner * index) / SAMPLES))
  return starts.map((start) => file.slice(start, start + SAMPLE_BYTES))
}

/** Called when a request fails: for the browser a file that it cannot read looks like a lost connection. */
export const isReadable = (file: File): Promise<boolean> =>
  bytesOf(file.slice(0, 1)).then(
    () => true,
    () => false,
  )

const bytesOf = async (part: Blob): Promise<Uint8Array> =>
  new Uint8Array(
    await part.arrayBuffer().catch(() => {
      throw new Unreadable()
    }),
  )

/** The browser cannot read the file: it was moved, changed or deleted since it was chosen. */
export class Unreadable extends Error {}
