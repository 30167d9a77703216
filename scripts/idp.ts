// npm run idp                   an identity provider on this machine, for the service at http://127.0.0.1:4000
// npm run idp -- ADDRESS        for the service at ADDRESS (or TILL_URL)
import { ANN, BEN, startIdentityProvider } from '../test/stand-ins/identity-provider.ts'

const PORT = 4400
const CALLBACK = '/api/auth/idp/callback'

const address = process.argv[2] ?? process.env.TILL_URL ?? 'http://127.0.0.1:4000'
if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
  fail(`${address}: expected the address of the service, such as http://127.0.0.1:4000`)
const service = new URL(address).origin

const provider = await startIdentityProvider({
  port: PORT,
  redirectUris: [service + CALLBACK],
  // the same after each start, so that copied settings still work
  clientSecret: 'a secret of this machine, for trying it out'.replaceAll(/\W+/g, '-'),
}).catch((error: NodeJS.ErrnoException) =>
  fail(
    error.code === 'EADDRINUSE'
      ? `Port ${PORT} of 127.0.0.1 is taken: is another provider running?`
      : `The provider could not start: ${error.message}`,
  ),
)

const { port, hostname } = new URL(service)
const settings = {
  ...(/^(?:localhost|127\.|\[::1\])/.test(hostname) && port && port !== '4000' && { PORT: port }),
  IDP_ISSUER: provider.issuer,
  IDP_CLIENT_ID: provider.clientId,
  IDP_CLIENT_SECRET: provider.clientSecret,
  IDP_LABEL: 'Test-account',
}
console.log(`
An identity provider for ${service} runs at ${provider.issuer}. Start the service with it:

${Object.entries(settings)
  .map(([name, value]) => `${name}=${value}`)
  .join(' ')} npm start

Then open ${service}/sign-in/. There are no passwords; it asks who you are:
  Ann, ${ANN.email}      her mailbox is verified: signed in at once
  Ben, ${BEN.email}    his is not: a code by mail has to prove it (${service}/outbox/)
  Refuse                      as if you had said no

Ctrl-C ends it.`)

let closing = false
async function close(): Promise<void> {
  if (closing) return
  closing = true
  await provider.close()
  process.exit(0)
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void close())

// npm starts us through a shell that forwards no signals, so we stop when that shell is gone
if (process.env.npm_lifecycle_event !== undefined) {
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && void close(), 500).unref()
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
