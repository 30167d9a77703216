import { getDomain } from 'tldts'

/**
 * The domain that one owner has registered, which browsers call the site of a host: `shop.co.uk` of `pay.shop.co.uk`. Undefined for an
 * IP address, and for a public suffix (publicsuffix.org) such as `co.uk` or `github.io`.
 */
export const siteOfHost = (host: string): string | undefined =>
  getDomain(host, { allowPrivateDomains: true }) ?? undefined
