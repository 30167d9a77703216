import assert from 'node:assert/strict'
import { type Browser, newBrowser } from './seller.ts'
import type { Answer, TestShop } from './shop.ts'

export interface MadeKey {
  id: string
  secret: string
  key: Record<string, any>
}

export interface Program {
  secret: string
  call<Body = any>(
    method: string,
    address: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<Body>>
}

/** A program that sends this secret with each request. */
export const programWith = (shop: TestShop, secret: string): Program => ({
  secret,
  call: (method, address, body, headers = {}) =>
    shop.call(method, address, body, { authorization: `Bearer ${secret}`, ...headers }),
})

/** The seller whose products the shop's tests make, signed in. */
export async function signedInAnn(shop: TestShop): Promise<Browser> {
  const ann = newBrowser(shop)
  await ann.signInByCode('ann@shop.test')
  return ann
}

/** A key that the caller makes. */
export async function makeKey(
  maker: { call: Browser['call'] | Program['call'] },
  scopes: readonly string[],
  more: object = {},
): Promise<MadeKey> {
  const { status, body } = await maker.call<any>('POST', '/api/keys', { name: 'My program', scopes, ...more })
  assert.equal(status, 201, JSON.stringify(body))
  return { id: body.key.id, secret: body.secret, key: body.key }
}
