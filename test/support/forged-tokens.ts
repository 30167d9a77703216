import { createHmac, randomUUID } from 'node:crypto'
import { type CryptoKey, SignJWT, exportJWK, generateKeyPair } from 'jose'

// The tokens of a provider of the tests: good ones, and those an attacker would make.

export type Facts = Record<string, unknown>

/** Keys take longer to make than a sign-in: those of the first turn are shared. */
const OTHER = generateKeyPair('RS256')
export const FIRST_KEYS = newKeys()

export async function newKeys() {
  const kid = randomUUID()
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const published = { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' }
  return { kid, privateKey, otherKey: (await OTHER).privateKey, published }
}

interface Signing {
  kid: string
  privateKey: CryptoKey
  otherKey: CryptoKey
  clientSecret: string
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function signedBy(key: CryptoKey, claims: Facts, kid: string): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid }).sign(key)
}

export const SIGNINGS = {
  properly: (claims: Facts, { privateKey, kid }: Signing) => signedBy(privateKey, claims, kid),
  'with a key that is not published': (claims: Facts, { otherKey }: Signing) => signedBy(otherKey, claims, 'other'),
  'with another key under the same name': (claims: Facts, { otherKey, kid }: Signing) =>
    signedBy(otherKey, claims, kid),
  'with alg none': (claims: Facts) => `${part({ alg: 'none' })}.${part(claims)}.`,
  'with alg none and a signature': (claims: Facts) => `${part({ alg: 'none' })}.${part(claims)}.AAAA`,
  'with HS256 and the client secret': (claims: Facts, { clientSecret }: Signing) => {
    const unsigned = `${part({ alg: 'HS256' })}.${part(claims)}`
    return `${unsigned}.${createHmac('sha256', clientSecret).update(unsigned).digest('base64url')}`
  },
  'for another body': async (claims: Facts, { privateKey, kid }: Signing) => {
    const [header, , signature] = (await signedBy(privateKey, { ...claims, sub: 'somebody' }, kid)).split('.')
    return `${header}.${part(claims)}.${signature}`
  },
  'without its signature': async (claims: Facts, { privateKey, kid }: Signing) =>
    (await signedBy(privateKey, claims, kid)).replace(/[^.]+$/, ''),
  'as no token': () => 'not.a.token',
} satisfies Record<string, (claims: Facts, signing: Signing) => string | Promise<string>>
