import { createHash } from 'node:crypto'
import http from 'node:http'
import { type Browser, newBrowser } from './seller.ts'
import type { Answer, TestShop } from './shop.ts'

// A seller's work with files, in the terms of the API and of the tus protocol.

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const encoded = (text: string): string => Buffer.from(text).toString('base64')

export interface Uploader {
  browser: Browser
  sellerId: string
  productId: string
  send(
    method: string,
    address: string,
    body?: Buffer | ReadableStream,
    headers?: Record<string, string | undefined>,
  ): Promise<Answer>
  begin(size: number, metadata?: Record<string, string>): Promise<Answer>
  patch(address: string, offset: number, bytes: Buffer): Promise<Answer>
  head(address: string): Promise<Answer>
  /** A request whose `content-length` is larger than these bytes, on a connection that stays. */
  beginRequest(
    method: string,
    address: string,
    bytes: Buffer,
    headers: http.OutgoingHttpHeaders,
  ): Promise<http.ClientRequest>
  /** A PATCH of `length` bytes of which only these come. */
  beginPatch(address: string, offset: number, bytes: Buffer, length: number): Promise<http.ClientRequest>
}

/** A new signed-in seller with a product without files. */
export async function newUploader(shop: TestShop, browser = newBrowser(shop)): Promise<Uploader> {
  const { body } = await browser.signInByCode()
  const sellerId: string = body.seller?.id ?? body.id
  const productId = await shop.product({ sellerId, files: [] })
  const origin = 'http://shop.test'
  const cookie = () => browser.jar.header(new URL(origin))
  const uploader: Uploader = {
    browser,
    sellerId,
    productId,
    async send(method, address, bytes, headers = {}) {
      const all = { cookie: cookie(), origin, ...headers }
      const named = Object.entries(all).filter((one): one is [string, string] => one[1] !== undefined)
      const response = await fetch(new URL(address, shop.url), {
        method,
        headers: Object.fromEntries(named),
        ...(bytes && { body: bytes, duplex: 'half' }),
      })
      const text = await response.text()
      const isJson = /json/.test(response.headers.get('content-type') ?? '')
      return { status: response.status, headers: response.headers, body: isJson && text ? JSON.parse(text) : text }
    },
    begin: (size, metadata = {}) =>
      uploader.send('POST', '/api/uploads', undefined, {
        'tus-resumable': '1.0.0',
        'upload-length': String(size),
        'upload-metadata': Object.entries({ productId, filename: 'book.pdf', ...metadata })
          .map(([name, value]) => `${name} ${encoded(value)}`)
          .join(','),
      }),
    patch: (address, offset, bytes) =>
      uploader.send('PATCH', address, bytes, {
        'tus-resumable': '1.0.0',
        'upload-offset': String(offset),
        'content-type': 'application/offset+octet-stream',
      }),
    async beginRequest(method, address, bytes, headers) {
      const url = new URL(address, shop.url)
      const from = address.startsWith('/') ? origin : url.origin
      const request = http.request(url, {
        method,
        agent: false,
        headers: { cookie: cookie(), origin: from, ...headers },
      })
      request.on('error', () => {})
      await new Promise((resolve) => request.write(bytes, resolve))
      return request
    },
    beginPatch: (address, offset, bytes, length) =>
      uploader.beginRequest('PATCH', address, bytes, {
        'tus-resumable': '1.0.0',
        'upload-offset': String(offset),
        'content-type': 'application/offset+octet-stream',
        'content-length': length,
      }),
    head: (address) => uploader.send('HEAD', address, undefined, { 'tus-resumable': '1.0.0' }),
  }
  return uploader
}
