import type { DataStore } from '@tus/server'
import type { Readable } from 'node:stream'

/** Files by keys of our own making. A key is written once and its bytes never change. */
export interface Storage {
  /** Writes all of `bytes` under the key, or nothing. Safe against a loss of power when it returns. Refuses `storage_full`. */
  put(key: string, bytes: Readable): Promise<Stored>
  /** All of it, or the bytes from `from` up to and without `to`. */
  read(key: string, part?: { from: number; to: number }): Promise<Readable>
  /** From where a browser can be given the file, looked at just now. Undefined: it is not there. */
  serve(key: string, as: Served): Promise<Place | undefined>
  stat(key: string): Promise<{ size: number } | undefined>
  /** Also what was begun under the key and never finished. Removing nothing is no error. */
  remove(key: string): Promise<void>
  /** Whether a file of that size may begin. Refuses `storage_full`. */
  mustHaveRoom(bytes: number): Promise<void>
  /** Drops what was only noted under the key while the file came. */
  tidy(key: string): Promise<void>
  /** For files that come in pieces. */
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
  /** An address is good for one of them only. */
  method: 'GET' | 'HEAD'
}

/** A file on this machine: a folder, and the path below it; or an address that is good for minutes. */
export type Place = { root: string; path: string } | { url: string }

/** The library's store for the pieces. What is whole lies under its key, with nothing left to move. */
export interface Resumable {
  store: DataStore
  /** The store's own name for a key. */
  nameOf(key: string): string
  keyOf(name: string): string
  /** Makes what is whole last, and says what it hashes to. As often as it is asked: the store's notes are still there. */
  finish(key: string, size: number): Promise<Stored>
  /** Afterwards nothing is known of it but the file. */
  forget(key: string): Promise<void>
}
