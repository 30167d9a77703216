import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'

const SELLER = 'seller@drill.example'
const LOOK_MS = 100
const MOST_LOOKS = 600
const KILOBYTE = 1024
const FILES = [
  { name: 'The field guide.pdf', bytes: randomBytes(200 * KILOBYTE) },
  { name: 'The pictures.zip', bytes: randomBytes(50 * KILOBYTE) },
]

/** The data of the shop that the buyers need. */
export interface Shop {
  port: number
  productId: string
  /** The SHA-256 of each file's bytes, by its name. */
  hashes: ReadonlyMap<string, string>
}

/** A new seller signs in by a code, and puts a product with two files on sale: all as a program of the seller's would. */
export async function openShop(port: number): Promise<Shop> {
  let cookie = ''
  const call = async (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object | Buffer) => {
    const origin = `http://127.0.0.1:${port}`
    const isFile = Buffer.isBuffer(body)
    const response = await request(`${origin}${path}`, {
      method,
      headers: {
        origin,
        ...(cookie && { cookie }),
        ...(body && { 'content-type': isFile ? 'application/octet-stream' : 'application/json' }),
      },
      ...(body && { body: isFile ? body : JSON.stringify(body) }),
    })
    const text = await response.body.text()
    if (response.statusCode >= 300)
      throw new Error(`${method} ${path} was answered with ${response.statusCode}: ${text}`)
    cookie = [response.headers['set-cookie'] ?? []].flat()[0]?.split(';')[0] ?? cookie
    return text ? JSON.parse(text) : undefined
  }

  await call('POST', '/api/auth/otp', { email: SELLER })
  let code: string | undefined
  for (let looks = 0; !code; looks++) {
    if (looks > MOST_LOOKS) throw new Error('the seller got no code')
    await sleep(LOOK_MS)
    const mails = await call('GET', `/api/outbox?to=${encodeURIComponent(SELLER)}`)
    code = /^\d{6}/.exec(mails[0]?.subject ?? '')?.[0]
  }
  await call('POST', '/api/auth/otp/verify', { email: SELLER, code })
  await call('PATCH', '/api/auth/seller', { name: 'The drill' })
  const { id } = await call('POST', '/api/products', { name: 'A field guide', amount: 1900, currency: 'USD' })
  for (const { name, bytes } of FILES)
    await call('POST', `/api/products/${id}/files?name=${encodeURIComponent(name)}`, bytes)
  await call('PATCH', `/api/products/${id}`, { status: 'active' })
  return { port, productId: id, hashes: new Map(FILES.map(({ name, bytes }) => [name, sha256(bytes)])) }
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
