import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer, type SMTPServerError } from 'smtp-server'

/** An e-mail that came by SMTP. */
export interface SmtpMail {
  readonly to: readonly string[]
  /** As it came. */
  readonly source: string
  readonly mail: ParsedMail
}

/** What to answer instead of accepting: at `RCPT TO`, or when all of it is there. */
export interface SmtpRefusal {
  readonly code: number
  readonly message: string
}

/** Stands in for a mail server, for development and tests. */
export interface SmtpEmulator {
  /** With a user and their password: the value of `SMTP_URL`. */
  readonly url: string
  /** What was accepted, oldest first. */
  readonly mails: readonly SmtpMail[]
  /** The receivers that were refused. */
  readonly refused: ReadonlyArray<SmtpRefusal & { readonly to: string }>
  /**
   * How to answer to a receiver from now on; undefined: accept. Addresses that begin with `bad`, `full`, `busy` are refused
   * anyway.
   */
  behave(how: (to: string) => SmtpRefusal | undefined): void
  close(): Promise<void>
}

const refusals: ReadonlyArray<readonly [string, SmtpRefusal]> = [
  ['bad', { code: 550, message: '5.1.1 no such mailbox' }],
  ['full', { code: 552, message: '5.2.2 the mailbox is full' }],
  ['busy', { code: 451, message: '4.3.2 try again later' }],
]

export async function startSmtpEmulator({ port = 0 }: { readonly port?: number } = {}): Promise<SmtpEmulator> {
  const [user, password] = ['parley', randomBytes(12).toString('hex')]
  const mails: SmtpMail[] = []
  const refused: Array<SmtpRefusal & { readonly to: string }> = []
  let behaviour: (to: string) => SmtpRefusal | undefined = () => undefined

  const server = new SMTPServer({
    ...{ disabledCommands: ['STARTTLS'], allowInsecureAuth: true, logger: false },
    onAuth({ username, password: given }, _, callback) {
      if (username === user && given === password) callback(null, { user })
      else callback(errorOf({ code: 535, message: '5.7.8 wrong user or password' }))
    },
    onRcptTo({ address }, _, callback) {
      const how = behaviour(address) ?? refusals.find(([start]) => address.startsWith(start))?.[1]
      if (how !== undefined) refused.push({ to: address, ...how })
      callback(how && errorOf(how))
    },
    async onData(stream, { envelope }, callback) {
      const chunks: Buffer[] = []
      for await (const chunk of stream) chunks.push(chunk as Buffer)
      const source = Buffer.concat(chunks)
      const to = envelope.rcptTo.map(({ address }) => address)
      mails.push({ to, source: source.toString('utf8'), mail: await simpleParser(source) })
      callback()
    },
  })
  await new Promise<void>((resolve, reject) => {
    // Later ones are those of single connections, such as that somebody hung up.
    server.on('error', reject)
    server.listen(port, '127.0.0.1', () => resolve())
  })
  const { port: actual } = server.server.address() as AddressInfo
  return {
    url: `smtp://${user}:${password}@127.0.0.1:${actual}`,
    ...{ mails, refused },
    behave(how) {
      behaviour = how
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function errorOf({ code, message }: SmtpRefusal): SMTPServerError {
  return Object.assign(new Error(message), { responseCode: code })
}
