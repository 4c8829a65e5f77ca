export { type IncomingMail, type PlainMail, readForm, readPlain, readRaw } from './mail.ts'
export { type NoReply, type Reply, readReply, sendReply } from './reply.ts'
