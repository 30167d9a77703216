// The statements of the service, as it would be without one: written out again here, so that a change for the worse there
// shows as a worse ratio.

/** Makes one order at the product's price. */
export const MAKE_ORDER = (id: string, email: string, productId: string): string => `
  insert into orders (id, product_id, seller_id, email, product_name, amount_minor, currency, fee_minor, statement_descriptor,
    expires_at, due_at)
  select ${id}, p.id, p.seller_id, ${email}, p.name, p.price_minor, p.currency, fee_of(p.price_minor),
    statement_line('TILL', p.statement_suffix), now() + interval '24 hours', now() + interval '24 hours'
  from products p where p.id = ${productId} and p.status = 'active'
  returning id, amount_minor, currency, statement_descriptor, state`

export const READ_ORDER = `
  select id, email, state, amount_minor, currency, refunded_minor, statement_descriptor, product_id, product_name, rail,
    created_at, paid_at
  from orders where id = $1`

/** One capture of the order `:n` that openOrders() made, from the first statement of its transaction to the commit. */
export const settlePayment = (seller: string): string[] => {
  const order = orderId(':n')
  return [
    'begin',
    `update orders set state = 'paid', rail = 'card', paid_at = now(), due_at = null where id = ${order} and state = 'pending'`,
    `update payments set state = 'captured' where id = ${paymentId(':n')}`,
    `insert into captures (processor, processor_capture_id, payment_id, order_id, purpose, amount_minor, currency, rail, captured_at)
      values ('sandbox', ${captureId(':n')}, ${paymentId(':n')}, ${order}, 'sale', ${AMOUNT_MINOR}, '${CURRENCY}', 'card', now())`,
    `insert into processor_events (processor, event_id, type, processor_payment_id, outcome)
      values ('sandbox', ${eventId(':n')}, 'payment.captured', ${processorPaymentId(':n')}, 'applied')`,
    `insert into order_events (order_id, what) values (${order}, 'paid')`,
    `insert into transfers (kind, cause, order_id, debit_account, credit_account, amount_minor, currency) values
      ('sale', ${captureId(':n')}, ${order}, ${literal('processor:sandbox')}, ${literal(seller)}, ${AMOUNT_MINOR}, '${CURRENCY}'),
      ('fee', ${captureId(':n')}, ${order}, ${literal(seller)}, 'fees', ${FEE_MINOR}, '${CURRENCY}')`,
    `insert into pgboss.job (name, data, retry_limit, retry_delay, retry_backoff, expire_seconds, deletion_seconds)
      values ('bench', json_build_object('kind', 'receipt', 'orderId', ${order}), 40, 5, true, 60, 86400)`,
    'commit',
  ]
}

/** pgbench takes a colon for the beginning of a variable, also inside a text. */
const literal = (text: string): string => `E'${text.replace(':', String.raw`\x3a`)}'`

export const AMOUNT_MINOR = 1900
export const FEE_MINOR = 38
export const CURRENCY = 'USD'

const HEX = '0123456789abcdef'
/**
 * Stand for the hexadecimal digits, in their order. Random ids hardly ever have thirteen decimal digits in a row; in ids that do, the
 * service looks for the number of a card.
 */
const LETTERS = 'ghjkmnpqrstvwxyz'
/** Of an id after its prefix, which has the first three characters. */
const LENGTH = 23

// Ids of the right form from a number, whether that is a parameter, a column or a digit: the same in SQL and here.
export const idOf =
  (prefix: string) =>
  (n: string): string =>
    `'${prefix}' || translate(lpad(to_hex((${n})::bigint), ${LENGTH}, '0'), '${HEX}', '${LETTERS}')`
export const idIn = (prefix: string, n: number): string =>
  prefix +
  n
    .toString(16)
    .padStart(LENGTH, '0')
    .replaceAll(/./g, (digit) => LETTERS[HEX.indexOf(digit)]!)
/** The number of an id that `idIn` or `idOf` made. */
export const numberOf = (prefix: string, id: string): number =>
  Number.parseInt(
    id.slice(prefix.length).replaceAll(/./g, (letter) => HEX[LETTERS.indexOf(letter)]!),
    16,
  )
export const orderId = idOf('ord_01k')
export const paymentId = idOf('pay_01k')
export const processorPaymentId = idOf('sbx_pi_')
const captureId = idOf('sbx_ch_')
const eventId = idOf('evt_01k')
