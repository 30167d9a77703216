// Puts the details that Stripe still needs from a seller into words. Stripe names them by paths such as `individual.verification.document`
// or `person_1Abc.dob.day` (https://docs.stripe.com/connect/required-verification-information).

/** The first that fits says it. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^external_account/, 'The bank account to which Stripe pays'],
  [/^tos_acceptance/, 'Your consent to Stripe’s terms'],
  [/verification\.(?:additional_)?document/, 'A picture of an identity document'],
  [/verification|documents?\b/, 'A document that proves what you told Stripe'],
  [/\bdob\b/, 'The date of birth'],
  [/\b(?:id_number|ssn_last_4|political_exposure|nationality)\b/, 'Your identity number'],
  [/\b(?:tax_id|vat_id|registration_number|export_license)/, 'The tax or registration number of the business'],
  [/\baddress\b/, 'The address'],
  [/\b(?:first_name|last_name|name)\b/, 'The name'],
  [/\bemail\b/, 'The e-mail address'],
  [/\bphone\b/, 'The phone number'],
  [/^business_profile\.(?:url|product_description)/, 'Your website, or what you sell'],
  [/^business_profile\.mcc/, 'The kind of your business'],
  [/^business_(?:type|profile)/, 'The kind of your business'],
  [/\b(?:owners|directors|executives|representative|relationship|person_)/, 'The people behind the business'],
  [/^settings/, 'The line on your buyers’ bank statements'],
]

const REASONS: Record<string, string> = {
  'requirements.pending_verification': 'Nothing at the moment: Stripe is checking what you told it',
  'rejected.fraud': 'Stripe has refused this account. Please ask Stripe why',
  under_review: 'Nothing at the moment: Stripe is looking at your account',
  listed: 'Nothing at the moment: Stripe is looking at your account',
  platform_paused: 'Stripe has paused this account. Please ask the operator of this service',
  'action_required.requested_capabilities': 'Card payments have to be requested at Stripe',
}

/** The details that are due, in words, each once. Without any, `reason` says why the account is not enabled. */
export function wordsFor(due: readonly string[], reason?: string): string[] {
  const words = new Set(due.map((name) => WORDS.find(([form]) => form.test(name))?.[1] ?? 'More about your business'))
  if (words.size > 0 || reason === undefined) return [...words]
  if (reason.startsWith('rejected.')) return [REASONS['rejected.fraud']!]
  return [REASONS[reason] ?? 'Stripe has switched this account off. Please ask Stripe why']
}
