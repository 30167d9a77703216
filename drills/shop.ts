import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Dispatcher, request } from 'undici'

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

/** How the seller's program reaches the service. */
export interface Way {
  apiUrl: string
  appUrl: string
  email: string
  /** The sign-in code in the newest mail, once it is there. */
  code(): Promise<string | undefined>
  dispatcher?: Dispatcher
}

/** A new seller of a service without mail, on this port. */
export async function openShop(port: number): Promise<Shop> {
  const url = `http://127.0.0.1:${port}`
  const code = async () => {
    const response = await request(`${url}/api/outbox?to=${encodeURIComponent(SELLER)}`)
    const mails = (await response.body.json()) as { subject: string }[]
    return codeIn(mails[0]?.subject)
  }
  const productId = await putOnSale({ apiUrl: url, appUrl: url, email: SELLER, code })
  return { port, productId, hashes: new Map(FILES.map(({ name, bytes }) => [name, sha256(bytes)])) }
}

/** A new seller signs in by a code, and puts a product with two files on sale: all as a program of the seller's would. */
export async function putOnSale({ apiUrl, appUrl, email, code, dispatcher }: Way): Promise<string> {
  let cookie = ''
  const call = async (method: 'POST' | 'PATCH', path: string, body: object | Buffer) => {
    const isFile = Buffer.isBuffer(body)
    const response = await request(`${apiUrl}${path}`, {
      method,
      headers: {
        origin: appUrl,
        ...(cookie && { cookie }),
        'content-type': isFile ? 'application/octet-stream' : 'application/json',
      },
      body: isFile ? body : JSON.stringify(body),
      ...(dispatcher && { dispatcher }),
    })
    const text = await response.body.text()
    if (response.statusCode >= 300)
      throw new Error(`${method} ${path} was answered with ${response.statusCode}: ${text}`)
    cookie = [response.headers['set-cookie'] ?? []].flat()[0]?.split(';')[0] ?? cookie
    return text ? JSON.parse(text) : undefined
  }

  await call('POST', '/api/auth/otp', { email })
  let found: string | undefined
  for (let looks = 0; !found; looks++) {
    if (looks > MOST_LOOKS) throw new Error('the seller got no code')
    await sleep(LOOK_MS)
    found = await code()
  }
  await call('POST', '/api/auth/otp/verify', { email, code: found })
  await call('PATCH', '/api/auth/seller', { name: 'The drill' })
  const { id } = await call('POST', '/api/products', { name: 'A field guide', amount: 1900, currency: 'USD' })
  for (const { name, bytes } of FILES)
    await call('POST', `/api/products/${id}/files?name=${encodeURIComponent(name)}`, bytes)
  await call('PATCH', `/api/products/${id}`, { status: 'active' })
  return id
}

/** The code of a sign-in mail stands at the beginning of its subject. */
export const codeIn = (subject = ''): string | undefined => /^\d{6}/.exec(subject)?.[0]

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
