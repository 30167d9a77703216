import type { DataStore } from '@tus/server'
import type { Readable } from 'node:stream'

/** The key under which a storage names the database that it belongs to. */
export const STORAGE_ID = 'till-storage-id'

/** Stores files under keys that we make. A key is written once, and its bytes never change. */
export interface Storage {
  /** Writes all of `bytes` under the key, or nothing. When it returns, a power loss cannot remove them. Refuses `storage_full`. */
  put(key: string, bytes: Readable): Promise<Stored>
  /** Reads the whole file, or the bytes from `from` up to but not including `to`. */
  read(key: string, part?: { from: number; to: number }): Promise<Readable>
  /** The place from which a browser can get the file, checked just now. Undefined when the file does not exist. */
  serve(key: string, as: Served): Promise<Place | undefined>
  stat(key: string): Promise<{ size: number } | undefined>
  /** Removes the file and any unfinished upload under the key. A missing file is no error. */
  remove(key: string): Promise<void>
  /** Refuses `storage_full` when there is no room for a file of that size. */
  mustHaveRoom(bytes: number): Promise<void>
  /** Removes the temporary notes about an upload under the key. */
  tidy(key: string): Promise<void>
  /** The store for files that arrive in pieces. */
  resumable(): Promise<Resumable>
}

export interface Stored {
  size: number
  /** Hex. */
  sha256: string
}

export interface Served {
  /** A Content-Disposition. */
  disposition: string
  contentType: string
  /** A signed address is valid for one method only. */
  method: 'GET' | 'HEAD'
}

/** A file on this machine, as a folder and the path below it, or an address that is valid for a minute. */
export type Place = { root: string; path: string } | { url: string }

/** The tus library's store for pieces. A complete file already lies under its key, so it need not be moved. */
export interface Resumable {
  store: DataStore
  /** The store's own name for a key. */
  nameOf(key: string): string
  keyOf(name: string): string
  /** Ends the write under way to that key. A request to the store that has begun is not broken off. */
  cut(key: string): void
  /** Makes a complete file durable and returns its hash. It can be repeated, because the store's notes still exist. */
  finish(key: string, size: number): Promise<Stored>
  /** Removes all notes about the upload. The file stays. */
  forget(key: string): Promise<void>
}
