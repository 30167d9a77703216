/**
 * The companies that move money for shops. None of these names may appear on the pricing page in any form, also not as
 * a part of a longer word such as a host's name.
 */
export const NAMES = [
  '2checkout',
  'afterpay',
  'airwallex',
  'alipay',
  'amazon pay',
  'authorize\\.net',
  'billdesk',
  'bluesnap',
  'braintree',
  'cashfree',
  'ccavenue',
  'cybersource',
  'dodo payments',
  'easebuzz',
  'ebanx',
  'elavon',
  'fastspring',
  'first data',
  'flutterwave',
  'gocardless',
  'gumroad',
  'helcim',
  'ingenico',
  'instamojo',
  'iyzico',
  'juspay',
  'klarna',
  'lemon ?squeezy',
  'mercado ?pago',
  'midtrans',
  'mollie',
  'nuvei',
  'pagseguro',
  'paymob',
  'payoneer',
  'paypal',
  'paysafe',
  'paystack',
  'paytabs',
  'paytm',
  'phonepe',
  'pine ?labs',
  'przelewy24',
  'razorpay',
  'sagepay',
  'sezzle',
  'shift4',
  'skrill',
  'tosspayments',
  'venmo',
  'verifone',
  'worldline',
  'worldpay',
  'xendit',
  'yookassa',
  // Not the end of another word: "ready end" does not count, and neither do the stripes of a cloth.
  '(?<![a-z])adyen',
  '(?<![a-z])stripe(?![ds](?![a-z]))',
]
/**
 * Names that are also words, or parts of words, of the language or of code. They count only without a letter or digit
 * beside them.
 */
export const WORDS = [
  '2c2p',
  'affirm',
  'checkout\\.com',
  'dlocal',
  'eway',
  'fiserv',
  'moneris',
  'omise',
  'paddle',
  'payu',
  'rapyd',
  'recurly',
  'revolut',
  'square(?:up)?',
  'sumup',
  'trustly',
  'unzer',
  'wepay',
]
const PATTERN = new RegExp(`${NAMES.join('|')}|(?<![a-z\\d])(?:${WORDS.join('|')})(?![a-z\\d])`, 'gi')

/** The names found in a text, in lower case, once each. Joined words as in `useSquareForm` are split first. */
export function processorNames(text: string): string[] {
  const words = text.replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
  return [...new Set([...text.matchAll(PATTERN), ...words.matchAll(PATTERN)].map(([name]) => name.toLowerCase()))]
}
