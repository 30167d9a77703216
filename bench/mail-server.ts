import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import type { MailDelays } from './service.ts'

// A mail server that takes its time for each mail. For slow mailboxes it also waits before it accepts the recipient. It tells its
// parent of each mail that it has accepted, and ends with it.

const { mailMs, slowMs, slow }: MailDelays = JSON.parse(process.argv[2]!)
const slowOnes = new Set(slow)
const begun = new Map<string, number>()

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onMailFrom(_address, { id }, done) {
    begun.set(id, performance.now())
    done()
  },
  onRcptTo({ address }, _session, done) {
    setTimeout(done, slowOnes.has(address) ? slowMs : 0)
  },
  onData(stream, { id, envelope }, done) {
    stream.resume()
    stream.once('end', () =>
      setTimeout(() => {
        process.send!({ to: envelope.rcptTo[0]!.address, ms: performance.now() - begun.get(id)! })
        done()
      }, mailMs),
    )
  },
})
// a client that breaks its connection off is normal here
server.on('error', () => {})
process.once('disconnect', () => process.exit(0))
server.listen(0, '127.0.0.1', () => process.send!((server.server.address() as AddressInfo).port))
