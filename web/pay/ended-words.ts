import type { Status } from '../ui/api.ts'

/** What it means for the buyer that the order is there, by its state. */
export const MEANS: Partial<Record<Status, string>> = {
  expired:
    'It was not paid in time, and nothing was taken. Should a payment still arrive, you get the files by e-mail.',
  needs_review:
    'We received a payment that does not match the price of this order. You will not be charged again. The seller sorts it out and writes to you; keep your order number at hand.',
  refunded:
    'The full price goes back to you. It can take some days to show on your statement. The files are no longer available.',
  disputed:
    'Your bank has asked for the money back, so the files are on hold until that is decided. Was it a mistake? Tell your bank, and the files come back.',
  charged_back: 'Your bank has returned the money to you. The files are no longer available.',
  pending:
    'It was declined too often, or it has waited too long. Should a payment still arrive, you get the files by e-mail.',
}
