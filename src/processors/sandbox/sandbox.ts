import type { KeyObject } from 'node:crypto'
import type { Db } from '../../kit/database.ts'
import type { Jobs } from '../../kit/jobs.ts'
import { Refusal } from '../../kit/errors.ts'
import { type Signer, derivedKey, newSigner } from '../../kit/signing.ts'
import { RAILS } from '../rails.ts'
import type { Processor, StartedPayment } from '../processor.ts'
import { ProcessorRefused } from '../refusals.ts'
import { snapshotOf } from './bank.ts'
import { movements } from './movements.ts'
import { verifyNotification } from './notify.ts'
import { type StoredPayment, sandboxId, sandboxPayments } from './payments.ts'
import { refund } from './refunds.ts'

/**
 * A payment processor inside the service, for trials and tests: it needs no account and no network, and moves no money. It has its
 * own state, sends signed notifications over HTTP to the service's webhook address, and answers calls.
 */
export function sandboxProcessor(
  db: Db,
  jobs: Jobs,
  secrets: readonly string[],
  payments = sandboxPayments(db, jobs),
): Processor {
  const signer = clientSecretSigner(secrets)
  const keys = notificationKeys(secrets)
  return {
    name: 'sandbox',
    rails: (currency) => RAILS.filter((rail) => rail !== 'upi' || currency === 'INR'),
    async startPayment({ key, orderId, amountMinor, currency }): Promise<StartedPayment> {
      const payment: StoredPayment = {
        processorPaymentId: sandboxId('pi'),
        orderId,
        amountMinor,
        currency,
        state: 'open',
        declines: 0,
        captures: [],
        refunds: [],
        disputes: [],
      }
      const id = await payments.start(key, payment)
      return { processorPaymentId: id, clientSecret: clientSecretOf(signer, id), publishableKey: 'pk_sandbox' }
    },
    fetchPayment: async (id) => snapshotOf(await payments.read(id)),
    cancelPayment: async (id) =>
      payments.change(id, (payment) => {
        if (payment.state === 'open') payment.state = 'canceled'
        return snapshotOf(payment)
      }),
    refund: async ({ processorPaymentId, ...request }) =>
      refund(payments, processorPaymentId, request).catch((error: unknown) => {
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
