import { importGroups, importMembers, importMessages, importUsers } from '@parley/contract'
import { serve } from '../../call.ts'
import { storeGroups } from './groups.ts'
import { storeMembers } from './members.ts'
import { storeMessages } from './messages.ts'
import { importRecords } from './records.ts'
import { storeUsers } from './users.ts'

const takesRecords = { takesRecords: true }

export const operations = [
  serve(
    importUsers,
    async ({ app, body }, context) => {
      const store = storeUsers.bind(undefined, context, app.appId)
      return { data: await importRecords('users', body.users, context.config.importMaxRecords, store) }
    },
    takesRecords,
  ),

  serve(
    importGroups,
    async ({ app, body }, context) => {
      const store = storeGroups.bind(undefined, context, app.appId)
      return { data: await importRecords('groups', body.groups, context.config.importMaxRecords, store) }
    },
    takesRecords,
  ),

  serve(
    importMembers,
    async ({ app, body }, context) => {
      const store = storeMembers.bind(undefined, context, app.appId)
      return { data: await importRecords('members', body.members, context.config.importMaxRecords, store) }
    },
    takesRecords,
  ),

  serve(
    importMessages,
    async ({ app, body }, context) => {
      const store = storeMessages.bind(undefined, context, app.appId)
      return { data: await importRecords('messages', body.messages, context.config.importMaxRecords, store) }
    },
    takesRecords,
  ),
]
