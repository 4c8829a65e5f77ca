import { type Static, Type } from 'typebox'
import { limits } from '../limits.ts'
import { defineOperation } from '../operation.ts'
import { enveloped, IdIn, MessageIdIn, NoParams, NoQuery } from '../schemas.ts'

const AnnouncedFile = Type.Object({
  fileId: Type.Optional(Type.String({ maxLength: 255 })),
  name: Type.String({ minLength: 1, maxLength: 1000 }),
  size: Type.Integer({ minimum: 0, description: 'Bytes' }),
  mimeType: Type.Optional(Type.String({ maxLength: 255 })),
})

/** A file as `data.attachments` of a message names it. */
const Attachment = Type.Object({
  url: Type.String(),
  name: Type.String(),
  mimeType: Type.String(),
  extension: Type.String(),
  size: Type.String({ description: 'Bytes' }),
})
export type Attachment = Static<typeof Attachment>

const UploadAddress = Type.Object({
  request: Type.Object({
    url: Type.String(),
    method: Type.Literal('POST'),
    body: Type.Record(Type.String(), Type.String(), { description: 'Fields of the form, beside `file`' }),
  }),
  attachment: Attachment,
  expiresAt: Type.Integer({ description: 'Epoch seconds' }),
})
export type UploadAddress = Static<typeof UploadAddress>

/** Beyond the public contract: what client SDKs call before they upload a file by itself. */
export const createUploadAddresses = defineOperation({
  id: 'create-upload-addresses',
  area: 'Messages',
  access: { user: true },
  onBehalfOf: 'optional',
  rateLimit: 'standard',
  method: 'POST',
  path: '/files/upload-url',
  summary: 'Create upload addresses',
  description:
    'Answers, by fileId, an address to which one file can be uploaded: a form (multipart/form-data) with the members of request.body as fields and the content as `file`. Then send the message with the attachments in data.attachments. A file has the size that was announced, is served with the type that was announced, and is removed if no message uses it within a day.',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({
    files: Type.Record(Type.String({ maxLength: 255 }), AnnouncedFile, {
      minProperties: 1,
      description: `By an id that the client chooses; at most ${limits.filesPerMessage}`,
    }),
    receiver: Type.Optional(IdIn),
    receiverType: Type.Optional(Type.String()),
    parentMessageId: Type.Optional(MessageIdIn),
  }),
  answer: enveloped(Type.Record(Type.String(), UploadAddress)),
  errors: [
    'ERR_UID_NOT_FOUND',
    'ERR_GUID_NOT_FOUND',
    'ERR_EMPTY_RECEIVER',
    'ERR_INVALID_RECEIVER_TYPE',
    'ERR_FILE_COUNT_EXCEEDED',
    'ERR_FILE_SIZE_EXCEEDED',
    'ERR_BLOCKED_RECEIVER',
    'ERR_BLOCKED_SENDER',
    'ERR_GROUP_NOT_JOINED',
    'ERR_BANNED_GROUPMEMBER',
    'ERR_PERMISSION_DENIED',
    'ERR_MESSAGE_ID_NOT_FOUND',
    'ERR_WRONG_MESSAGE_THREAD',
    'ERR_WRONG_MESSAGE_THREAD_CATEGORY',
    'ERR_MESSAGE_THREAD_NESTING',
  ],
})
