// The objects of a backup:
//   identity                  whose backup it is
//   base/ID/data              the folder of the database, copied while it was in use
//   base/ID/manifest          written last: a base without it is not complete
//   wal/CLUSTER/SEGMENT       the changes since then, of PostgreSQL's write-ahead log (WAL)
//   timelines/CLUSTER/NUMBER  when a restore has begun this timeline of the log
//   files/KEY                 the files of products and their pictures, each once

/** PostgreSQL's names of segments, such as 00000001000000000000000A, and of the files beside them. */
export const WAL_NAME = /^[0-9A-F]{8}(?:[0-9A-F]{16}(?:\.[0-9A-F]{8}\.backup|\.partial)?|\.history)$/

export const IDENTITY = 'identity'
export const baseData = (id: string): string => `base/${id}/data`
export const baseManifest = (id: string): string => `base/${id}/manifest`
/** A database of a new major version is a new cluster, whose log begins with the same names again. */
export const walName = (cluster: string, segment: string): string => `wal/${cluster}/${segment}`
/** The number is that of PostgreSQL's names, such as 00000002. */
export const timelineName = (cluster: string, number: string): string => `timelines/${cluster}/${number}`
export const fileName = (key: string): string => `files/${key}`

/** A place can have other things beside them, such as the folder lost+found of a disk, which only root can read. */
export const FOLDERS: readonly string[] = ['base/', 'wal/', 'timelines/', fileName('')]

/** Says whose backup it is, so that two services never write to one place. */
export interface Identity {
  installation: string
}

/** A copy of the database that a restore can begin with. Times are those of the database's clock, in ISO 8601. */
export interface Base {
  id: string
  startedAt: string
  finishedAt: string
  /** The major version of PostgreSQL. */
  version: string
  /** PostgreSQL's id of the cluster. */
  cluster: string
  /** The first and the last segment that a restore needs. */
  firstSegment: string
  lastSegment: string
  /** PostgreSQL reads this first after a restore. */
  label: string
  bytes: number
  /** The keys of the files at that time. */
  files: string[]
  secrets: string[]
  installation: string
}
