import { sql } from 'kysely'
import type { KeyObject } from 'node:crypto'
import type { Db } from '../../kit/database.ts'
import { Refusal } from '../../kit/errors.ts'
import type { Jobs } from '../../kit/jobs.ts'
import { type Signer, derivedKey, newSigner } from '../../kit/signing.ts'
import { RAILS } from '../rails.ts'
import { PaymentUnknown, type Processor, ProcessorRefused, type StartedPayment } from '../processor.ts'
import { type StoredPayment, changePayment, sandboxId, snapshotOf } from './bank.ts'
import { movements } from './movements.ts'
import { verifyNotification } from './notify.ts'
import { refund } from './refunds.ts'

/**
 * A payment processor inside the service, for trials and tests: it needs no account and no network, and moves no money. It has its
 * own state, sends signed notifications over HTTP to the service's webhook address, and answers calls.
 */
export function sandboxProcessor(db: Db, jobs: Jobs, secrets: readonly string[]): Processor {
  const signer = clientSecretSigner(secrets)
  const keys = notificationKeys(secrets)
  const read = async (id: string): Promise<StoredPayment> => {
    const { rows } = await sql<{
      payment: StoredPayment
    }>`select payment from sandbox_payments where id = ${id}`.execute(db)
    if (!rows[0]) throw new PaymentUnknown('the sandbox does not know this payment')
    return rows[0].payment
  }

  return {
    name: 'sandbox',
    rails: (currency) => RAILS.filter((rail) => rail !== 'upi' || currency === 'INR'),
    async startPayment({ key, orderId, amountMinor, currency }): Promise<StartedPayment> {
      const id = sandboxId('pi')
      const payment: StoredPayment = {
        processorPaymentId: id,
        orderId,
        amountMinor,
        currency,
        state: 'open',
        declines: 0,
        captures: [],
        refunds: [],
        disputes: [],
      }
      const { rows } = await sql<{ id: string }>`
        insert into sandbox_payments (id, start_key, payment) values (${id}, ${key}, ${JSON.stringify(payment)})
        on conflict (start_key) do update set start_key = excluded.start_key
        returning id`.execute(db)
      return {
        processorPaymentId: rows[0]!.id,
        clientSecret: clientSecretOf(signer, rows[0]!.id),
        publishableKey: 'pk_sandbox',
      }
    },
    fetchPayment: async (id) => snapshotOf(await read(id)),
    cancelPayment: async (id) =>
      changePayment(db, id, async (payment) => {
        if (payment.state === 'open') payment.state = 'canceled'
        return snapshotOf(payment)
      }),
    refund: async ({ processorPaymentId, ...request }) =>
      refund(db, jobs, processorPaymentId, request).catch((error: unknown) => {
        throw error instanceof Refusal ? new ProcessorRefused(error.message) : error
      }),
    signature: { header: 'webhook-signature', form: /^v1,[A-Za-z0-9+/]{43}=(?: |$)/ },
    verifyEvent: (body, headers) => verifyNotification(keys, body, headers),
    movements: (from, to) => movements(db, from, to),
  }
}

/** The keys of the sandbox's notifications. The first signs, all verify. */
export const notificationKeys = (secrets: readonly string[]): KeyObject[] =>
  secrets.map((secret) => derivedKey(secret, 'sandbox webhook'))

export const clientSecretSigner = (secrets: readonly string[]): Signer => newSigner(secrets, 'sandbox client secret')

const clientSecretOf = (signer: Signer, id: string): string => `${id}_secret_${signer.sign(id)}`

/** The payment of a client secret, or undefined when the sandbox did not issue it. */
export function paymentOfSecret(signer: Signer, clientSecret: string): string | undefined {
  const [id = '', signature = ''] = clientSecret.split('_secret_')
  return signer.verify(id, signature) ? id : undefined
}
