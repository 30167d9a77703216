import { createHmac, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Config } from '../../src/config.ts'
import type { ProcessorName } from '../../src/config/processors.ts'
import { modeOf } from '../../src/processors/settings.ts'
import { derivedKey } from '../../src/kit/signing.ts'
import { signature as sandboxSignature } from '../../src/processors/sandbox/notify.ts'
import { type Answer, ask, outline } from './ask.ts'
import { type Finding, type Patient, failure, fine } from './finding.ts'
import { inWords } from './in-words.ts'
import { webhookPath } from './processors.ts'

/** A notification of this type is about no payment. The service only notes it. */
const HARMLESS_TYPE = 'till.doctor'

/**
 * Sends two notifications to our own webhook address. The service must refuse one without a signature. It must accept one with our
 * secret, about no payment, which must then be in our database: this shows that the address belongs to this service.
 */
export async function checkWebhook(patient: Patient, processor: ProcessorName): Promise<Finding> {
  const { baseUrl, config } = patient
  const about = `${processor} webhook`
  const url = baseUrl + webhookPath(processor)
  const elsewhere =
    'let BASE_URL, and the proxy behind it, lead to this service without a login, a redirect or a filter'
  const post = (body: string, headers: Record<string, string> = {}) =>
    ask(patient, url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })

  let stranger: Answer
  let known: Answer
  const id = `evt_doctor${randomBytes(8).toString('hex')}`
  try {
    stranger = await post('{}')
    if (isProblem(stranger, 404, 'not_found'))
      return failure(
        about,
        `${url}: a Till answers that does not know ${processor}`,
        'restart it with these settings, or let BASE_URL lead to the one that has them',
      )
    if (!isProblem(stranger, 400, 'invalid_signature'))
      return failure(about, `${url} is not answered by Till, but with ${outline(stranger)}`, elsewhere)
    const { body, headers } = signedEvent(config, processor, id)
    known = await post(body, headers)
  } catch (error) {
    return failure(about, `${url}: ${inWords(error)}`, elsewhere)
  }
  if (isProblem(known, 400, 'invalid_signature'))
    return failure(
      about,
      `${url}: a Till answers that has another secret for ${processor}, or a clock that is off`,
      'restart it with these settings, or let BASE_URL lead to the one that has them',
    )
  if (known.status !== 200)
    return failure(about, `${url} answers a notification with ${outline(known)}`, 'see the log of the service')
  if ((await arrived(patient, processor, id)) === false)
    return failure(
      about,
      `${url}: a Till answers that has the same secret and another database`,
      'an old installation? Let BASE_URL lead to this one, or DATABASE_URL to its database',
    )
  return fine(about, `${url} accepts signed notifications and refuses others`)
}

const isProblem = ({ status, json }: Answer, wanted: number, code: string): boolean =>
  status === wanted && json?.['code'] === code

/** Whether the notification is in our database, which then removes it. Undefined when the database cannot be read. */
async function arrived({ database }: Patient, processor: string, id: string): Promise<boolean | undefined> {
  const db = await database
  if (!db) return undefined
  try {
    const { rows } = await sql`
      delete from processor_events where processor = ${processor} and event_id = ${id} and type = ${HARMLESS_TYPE}
      returning event_id`.execute(db)
    return rows.length === 1
  } catch {
    return undefined // the line about the database says why
  }
}

/** A notification about no payment, signed as the processor signs. */
function signedEvent(config: Config, processor: ProcessorName, id: string) {
  const seconds = Math.floor(Date.now() / 1000)
  const mac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex')
  switch (processor) {
    case 'stripe': {
      const { webhookSecrets, secretKey } = config.stripe!
      const livemode = modeOf(secretKey) === 'live'
      const body = JSON.stringify({ id, object: 'event', type: HARMLESS_TYPE, livemode, data: { object: {} } })
      return {
        body,
        headers: { 'stripe-signature': `t=${seconds},v1=${mac(webhookSecrets[0]!, `${seconds}.${body}`)}` },
      }
    }
    case 'razorpay': {
      const body = JSON.stringify({ entity: 'event', event: HARMLESS_TYPE, payload: {} })
      const signature = mac(config.razorpay!.webhookSecrets[0]!, body)
      return { body, headers: { 'x-razorpay-signature': signature, 'x-razorpay-event-id': id } }
    }
    case 'sandbox': {
      const body = JSON.stringify({ id, type: HARMLESS_TYPE })
      return { body, headers: sandboxSignature(derivedKey(config.secrets[0]!, 'sandbox webhook'), id, seconds, body) }
    }
  }
}
