// Puts Razorpay's open requirements of a seller into words. Its names are paths such as `settlements.account_number` or `kyc.pan`
// (https://razorpay.com/docs/api/payments/route/product-configuration-entity).

/** The first that fits says it. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^settlements\./, 'The bank account to which Razorpay pays: its number, its IFSC and its holder'],
  [/proof_of_address/, 'A document that proves the address'],
  [/proof_of_identification|identity/, 'A picture of an identity document'],
  [/proof|document|cancelled_cheque/, 'A document that proves what you told Razorpay'],
  [/\bgst/, 'The GST number of the business'],
  [/\bpan\b/, 'The PAN: Razorpay does not have it, or it does not fit the name'],
  [/address/, 'The address'],
  [/\bemail\b/, 'The e-mail address'],
  [/\bphone\b/, 'The phone number'],
  [/name\b/, 'The name, as it stands at the tax office'],
  [/^(?:business_type|profile|business_model)/, 'The kind of your business'],
]

const STANDINGS: Readonly<Record<string, string>> = {
  none: 'The bank account to which Razorpay pays. Please send your details again',
  under_review: 'Nothing at the moment: Razorpay is checking what you told it',
  requested: 'Nothing at the moment: Razorpay is checking what you told it',
  created: 'Nothing at the moment: Razorpay is checking what you told it',
  suspended: 'Razorpay has suspended this account. Please ask the operator of this service',
  rejected: 'Razorpay has refused this account. Please ask the operator of this service',
}

/** The details that are due, in words, each once. Without any, the activation says why the account is not active. */
export function wordsFor(due: readonly string[], activation: string): string[] {
  if (activation === 'suspended' || activation === 'rejected') return [STANDINGS[activation]!]
  const words = new Set(due.map((name) => WORDS.find(([form]) => form.test(name))?.[1] ?? 'More about your business'))
  if (words.size > 0 || activation === 'activated') return [...words]
  return [STANDINGS[activation] ?? 'More about your business: Razorpay does not say what. Please ask the operator']
}
