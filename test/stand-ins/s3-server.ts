import { createHash, createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Ends } from '../support/shop.ts'
import { atEnd } from '../support/ends.ts'

// A bucket as S3 has them, in memory, as far as the service uses one. Nothing is answered that is not signed (Signature
// Version 4, in headers or in the address), for this bucket, with the keys below, in time, and with the bytes it was signed for.

export const KEYS = { id: 'AKIDTILLTEST', secret: 'a secret key / of the tests+' }
export const BUCKET = 'till-files'
const REGION = 'eu-test-1'
const CLOCK_SECONDS = 900

interface Unfinished {
  key: string
  parts: Map<number, Buffer>
}

export type S3Server = Awaited<ReturnType<typeof startS3Server>>

export async function startS3Server(t: Ends) {
  const objects = new Map<string, Buffer>()
  const notes = new Map<string, Record<string, string>>()
  const unfinished = new Map<string, Unfinished>()
  const asked: string[] = []
  const refused: string[] = []
  /** Set by a test: the faults of the next requests. */
  const weather = {
    frozen: false,
    /** It answers this request, written as in `asked`, only after that. */
    held: undefined as { request: string; until: Promise<unknown> } | undefined,
    failing: false,
    /** It refuses the last step of an upload in parts. */
    unfinishable: false,
    /** It refuses the part of this number, of each upload. */
    brokenPart: 0,
    full: false,
    /** The keys have lost the right to read objects. */
    unreadable: false,
    /** The keys may not list the bucket, so a missing object looks like a forbidden one. */
    unlisted: false,
    /** So many answers with an object are cut after `cutAfterBytes`. */
    cuts: 0,
    cutAfterBytes: 0,
  }

  const server = http.createServer((request, response) => {
    void answer(request, response).catch((error: Error) => {
      refused.push(error.message)
      send(response, 500, xml('Error', `<Code>InternalError</Code>`))
    })
  })

  async function answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://s3.test')
    const [, bucket, ...rest] = url.pathname.split('/')
    const key = decodeURIComponent(rest.join('/'))
    const { method = '' } = request
    asked.push(
      `${method} ${key}${['uploads', 'uploadId', 'partNumber'].filter((one) => url.searchParams.has(one)).join()}`,
    )
    if (weather.frozen) return
    if (weather.held?.request === asked.at(-1)) await weather.held!.until
    const body = await buffer(request)
    const fail = (status: number, code: string) => send(response, status, xml('Error', `<Code>${code}</Code>`))
    const wrong = wrongSignature(request, url, body)
    if (wrong) {
      refused.push(`${method} ${url.pathname}: ${wrong}`)
      return fail(403, wrong)
    }
    if (bucket !== BUCKET) return fail(404, 'NoSuchBucket')
    const uploadId = url.searchParams.get('uploadId')
    if (weather.failing || (weather.unfinishable && method === 'POST' && uploadId)) return fail(503, 'SlowDown')
    if (weather.brokenPart > 0 && Number(url.searchParams.get('partNumber')) === weather.brokenPart)
      return fail(503, 'SlowDown')
    if (weather.full && (method === 'PUT' || (method === 'POST' && !uploadId))) return fail(507, 'XMinioStorageFull')

    if (url.searchParams.has('uploads')) {
      if (method === 'POST') {
        const id = randomBytes(8).toString('hex')
        unfinished.set(id, { key, parts: new Map() })
        return send(response, 200, xml('InitiateMultipartUploadResult', `<UploadId>${id}</UploadId><Key>${key}</Key>`))
      }
      const prefix = url.searchParams.get('prefix') ?? ''
      const listed = [...unfinished].filter(([, one]) => one.key.startsWith(prefix))
      const items = listed.map(([id, one]) => `<Upload><Key>${one.key}</Key><UploadId>${id}</UploadId></Upload>`)
      return send(response, 200, xml('ListMultipartUploadsResult', `<IsTruncated>false</IsTruncated>${items.join('')}`))
    }
    if (url.searchParams.get('list-type') === '2') {
      const prefix = url.searchParams.get('prefix') ?? ''
      const after = url.searchParams.get('continuation-token') ?? ''
      const names = [...objects.keys()].filter((name) => name.startsWith(prefix) && name > after).sort()
      // few at a time, so that a client that reads only the first page is found
      const page = names.slice(0, 5)
      const more = names.length > page.length ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
      const items = page.map((name) => `<Contents><Key>${name}</Key></Contents>`)
      return send(
        response,
        200,
        xml('ListBucketResult', `<IsTruncated>${more !== ''}</IsTruncated>${more}${items.join('')}`),
      )
    }
    if (uploadId) return inParts(method, url, uploadId, body, response, fail)
    if (method === 'PUT') {
      objects.set(key, body)
      const own = Object.entries(request.headers).filter(([name]) => name.startsWith('x-amz-meta-'))
      notes.set(key, Object.fromEntries(own) as Record<string, string>)
      return send(response, 200, '', { etag: etagOf(body) })
    }
    if (method === 'DELETE') {
      objects.delete(key)
      return send(response, 204, '')
    }
    const object = objects.get(key)
    if (weather.unreadable || (!object && weather.unlisted)) return fail(403, 'AccessDenied')
    if (!object) return fail(404, 'NoSuchKey')
    const matches = request.headers['if-match'] ?? etagOf(object)
    if (matches !== etagOf(object)) return fail(412, 'PreconditionFailed')
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '')
    const from = Number(range?.[1] ?? 0)
    const to = Math.min(object.length, range?.[2] ? Number(range[2]) + 1 : object.length)
    if (from > object.length) return fail(416, 'InvalidRange')
    const says = (name: string) => url.searchParams.get(`response-${name}`)
    response.writeHead(range ? 206 : 200, {
      ...notes.get(key),
      'content-length': to - from,
      etag: etagOf(object),
      'content-type': says('content-type') ?? 'application/octet-stream',
      ...(says('content-disposition') && { 'content-disposition': says('content-disposition')! }),
      ...(says('cache-control') && { 'cache-control': says('cache-control')! }),
      ...(range && { 'content-range': `bytes ${from}-${to - 1}/${object.length}` }),
    })
    if (method === 'GET' && weather.cuts > 0) {
      weather.cuts--
      return void response.write(object.subarray(from, from + weather.cutAfterBytes), () => response.destroy())
    }
    response.end(method === 'HEAD' ? undefined : object.subarray(from, to))
  }

  function inParts(
    method: string,
    url: URL,
    uploadId: string,
    body: Buffer,
    response: http.ServerResponse,
    fail: (status: number, code: string) => void,
  ): void {
    const upload = unfinished.get(uploadId)
    if (!upload) return fail(404, 'NoSuchUpload')
    const sorted = [...upload.parts].sort(([a], [b]) => a - b)
    if (method === 'DELETE') {
      unfinished.delete(uploadId)
      return send(response, 204, '')
    }
    if (method === 'PUT') {
      const number = Number(url.searchParams.get('partNumber'))
      if (!(number >= 1 && number <= 10_000)) return fail(400, 'InvalidArgument')
      upload.parts.set(number, body)
      return send(response, 200, '', { etag: etagOf(body) })
    }
    if (method === 'GET') {
      const after = Number(url.searchParams.get('part-number-marker') ?? 0)
      // two at a time, so that a client that reads only the first page is found
      const page = sorted.filter(([number]) => number > after).slice(0, 2)
      const isTruncated = page.length > 0 && page.at(-1)![0] < (sorted.at(-1)?.[0] ?? 0)
      const items = page.map(([number, part]) => `<Part><PartNumber>${number}</PartNumber><ETag>${etagOf(part)}</ETag><Size>${part.length}</Size></Part>`) // oxfmt-ignore
      return send(response, 200, xml('ListPartsResult', `<IsTruncated>${isTruncated}</IsTruncated><NextPartNumberMarker>${page.at(-1)?.[0] ?? 0}</NextPartNumberMarker>${items.join('')}`)) // oxfmt-ignore
    }
    const wanted = [...String(body).matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = '']) => ({
      number: Number(/<PartNumber>(\d+)/.exec(part)?.[1]),
      etag: /<ETag>(.*?)<\/ETag>/.exec(part)?.[1]?.replaceAll('&quot;', '"'),
    }))
    const parts = wanted.map(({ number, etag }) => {
      const part = upload.parts.get(number)
      return part && etagOf(part) === etag ? part : undefined
    })
    if (parts.length === 0 || parts.includes(undefined)) return fail(400, 'InvalidPart')
    if (parts.slice(0, -1).some((part) => part!.length < 5 * 1024 ** 2)) return fail(400, 'EntityTooSmall')
    // as Cloudflare's R2; AWS takes parts of several sizes
    if (parts.slice(0, -1).some((part) => part!.length !== parts[0]!.length)) return fail(400, 'InvalidPart')
    unfinished.delete(uploadId)
    objects.set(upload.key, Buffer.concat(parts as Buffer[]))
    send(response, 200, xml('CompleteMultipartUploadResult', `<Key>${upload.key}</Key><ETag>x</ETag>`))
  }

  await once(server.listen(0, '127.0.0.1'), 'listening')
  atEnd(t, () => {
    server.close()
    server.closeAllConnections()
  })
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    endpoint,
    objects,
    unfinished,
    asked,
    /** Requests that no store would have answered. */
    refused,
    weather,
    env: {
      STORAGE_URL: `s3://${BUCKET}?endpoint=${endpoint}&region=${REGION}`,
      S3_ACCESS_KEY_ID: KEYS.id,
      S3_SECRET_ACCESS_KEY: KEYS.secret,
    },
  }
}

const etagOf = (bytes: Buffer): string => `"${createHash('md5').update(bytes).digest('hex')}"`
const xml = (name: string, inside: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><${name}>${inside}</${name}>`

function send(response: http.ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { ...headers, ...(body && { 'content-type': 'application/xml' }) }).end(body)
}

/** Undefined for a request that its signature is for; else S3's code for the fault. */
function wrongSignature({ method, headers }: http.IncomingMessage, url: URL, body: Buffer): string | undefined {
  const presigned = url.searchParams.has('X-Amz-Signature')
  const header = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
    headers.authorization ?? '',
  )
  if (presigned === Boolean(header)) return 'AccessDenied'
  const query = (name: string) => url.searchParams.get(`X-Amz-${name}`) ?? ''
  const [credential, signedHeaders, signature] = presigned
    ? [query('Credential'), query('SignedHeaders'), query('Signature')]
    : [header![1]!, header![2]!, header![3]!]
  const date = presigned ? query('Date') : String(headers['x-amz-date'])
  const [id, day, region, service, ending] = credential.split('/')
  if (id !== KEYS.id) return 'InvalidAccessKeyId'
  if (region !== REGION || service !== 's3' || ending !== 'aws4_request' || !date.startsWith(day!))
    return 'AuthorizationHeaderMalformed'
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')) / 1000
  const age = Date.now() / 1000 - at
  if (presigned ? age > Number(query('Expires')) || age < -CLOCK_SECONDS : !(Math.abs(age) < CLOCK_SECONDS))
    return 'RequestTimeTooSkewed'
  const names = signedHeaders.split(';')
  if (!names.includes('host')) return 'SignatureDoesNotMatch'
  const given = presigned ? 'UNSIGNED-PAYLOAD' : String(headers['x-amz-content-sha256'])
  if (given !== 'UNSIGNED-PAYLOAD' && given !== createHash('sha256').update(body).digest('hex'))
    return 'XAmzContentSHA256Mismatch'

  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  const parameters = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
  const canonical = [
    method,
    url.pathname.split('/').map((part) => encode(decodeURIComponent(part))).join('/'), // oxfmt-ignore
    parameters.join('&'),
    ...names.map((name) => `${name}:${String(headers[name] ?? '').trim().replace(/ +/g, ' ')}`), // oxfmt-ignore
    '',
    signedHeaders,
    given,
  ].join('\n')
  const scope = [day, region, service, ending].join('/')
  const toSign = ['AWS4-HMAC-SHA256', date, scope, createHash('sha256').update(canonical).digest('hex')].join('\n')
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const secret = [day!, region, service, ending].reduce<string | Buffer>(hmac, `AWS4${KEYS.secret}`)
  return hmac(secret, toSign).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch'
}
