import { apiBase } from '../../../ui/page-data.ts'

/** The way to a receiver to copy. */
export const Receiver = () => (
  <p>
    <a class="link" href={`${apiBase}/docs/webhooks.md`}>
      A receiver to copy, and how to check the signature
    </a>
  </p>
)
