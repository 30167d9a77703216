import { SealError } from '../kit/vault/sealed.ts'
import type { Vault } from '../kit/vault/vault.ts'
import { FOLDERS, IDENTITY, fileName } from './names.ts'

/** How many objects are looked at at the same time. A bucket answers each after some milliseconds. */
const AT_ONCE = 8

export interface Rotation {
  /** How many objects were encrypted anew with the first key. */
  renewed: number
  /** How many objects need one of the earlier keys: copies of the database and their log, which go in time, and damaged objects. */
  left: number
  /** Objects that are damaged. An earlier key that is removed would make each of them stop a whole restore. */
  damaged: string[]
}

/**
 * Encrypts with the first key what no retention ends, so that the earlier keys can be removed one day. It can be cut off at any moment
 * and repeated: an object is replaced in one step.
 */
export async function rotateKeys(vault: Vault): Promise<Rotation> {
  const done: Rotation = { renewed: 0, left: 0, damaged: [] }
  const lists = await Promise.all(FOLDERS.map((folder) => vault.list(folder)))
  const names = [IDENTITY, ...lists.flat()]
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const group = names.slice(at, at + AT_ONCE)
    const isOld = await Promise.all(group.map((name) => vault.needsEarlierKey(name)))
    for (const name of group.filter((_, n) => isOld[n])) {
      if (!stays(name)) done.left++
      else if (await renew(vault, name)) done.renewed++
      else {
        done.left++
        done.damaged.push(name)
      }
    }
  }
  return done
}

const stays = (name: string): boolean =>
  name === IDENTITY || name.startsWith(fileName('')) || name.startsWith('timelines/') || name.endsWith('.history')

/** Returns false for an object that none of the keys opens. */
async function renew(vault: Vault, name: string): Promise<boolean> {
  const bytes = await vault.read(name)
  // it was removed meanwhile
  if (!bytes) return true
  let problem: unknown
  bytes.on('error', (error) => (problem = error))
  try {
    await vault.put(name, bytes)
    return true
  } catch (error) {
    if (problem instanceof SealError) return false
    throw error
  }
}
