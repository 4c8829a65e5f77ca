import { type TProperties, Type } from 'typebox'
import { enveloped } from '../../schemas.ts'

/** What providers of e-mail and those of SMS have in common: an app has at most one of each kind. */

/** An answer about the one provider of its kind: nothing of it where none is set up. */
export const answerOf = <const Members extends TProperties>(members: Members) =>
  enveloped(Type.Partial(Type.Object(members, { additionalProperties: false })))

export const enabled = Type.Boolean({ description: 'Whether it is used. Default true' })
export const shortened = 'In responses it is shortened. Sent back like that, it stays as it is'
export const replaced = 'One that is set up already is replaced.'
export const waiting = 'What waits to be sent is not sent.'
export const ownProvider =
  'A webhook that is called for each user who is to be told. Requests are signed like those of webhooks; `POST .../custom/secret` tells the secret. One that is set up already is replaced, and keeps its secret.'
export const NewSecret = enveloped(
  Type.Object({ secret: Type.String({ description: '`whsec_...`; not shown again' }) }),
)
