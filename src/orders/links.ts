import { Type } from 'typebox'
import { Time } from '../kit/schema.ts'
import { LINK_LIFE_SECONDS } from './downloads.ts'
import type { OrderFile } from './find.ts'

export const Download = Type.Object({
  fileId: Type.String(),
  name: Type.String(),
  size: Type.Integer({ description: 'Bytes.' }),
  sha256: Type.String(),
  contentType: Type.String(),
  url: Type.String({ description: 'Works for one hour. Read the status again for a new link.' }),
  expiresAt: Time,
})
export type Download = Type.Static<typeof Download>

export type DownloadUrl = (orderId: string, fileId: string, expiresAt: Date) => string

interface ReadFiles {
  id: string
  files: readonly OrderFile[]
  /** When the database read them, by its clock, which also ends the links. Clocks of instances differ. */
  readAt: Date
}

/** The files of an order, each with a link that is new and works for an hour. */
export function freshLinks({ id: orderId, files, readAt }: ReadFiles, downloadUrl: DownloadUrl): Download[] {
  const expiresAt = new Date(readAt.getTime() + LINK_LIFE_SECONDS * 1000)
  return files.map(({ id, ...file }) => ({
    fileId: id,
    ...file,
    url: downloadUrl(orderId, id, expiresAt),
    expiresAt: expiresAt.toISOString(),
  }))
}
