import type { WorldSizes } from '../seed/sizes.ts'

/** A list that costs much, as any user may ask for it. */
export interface DearList {
  readonly name: string
  readonly path: string
}

/** Late pages, searches that find nearly everything, and counts of what is frequent. */
export function dearestLists({ users, groups, crowd }: WorldSizes): DearList[] {
  const late = (count: number) => Math.max(1, Math.floor((count * 0.8) / 1000))
  const ever = 'createdAt%5Bfrom%5D=1&createdAt%5Bto%5D=99999999999'
  return [
    {
      name: 'users: search, late page',
      path: `/v3/users?${ever}&searchKey=u&searchIn=uid&perPage=1000&page=${late(users)}`,
    },
    { name: 'users: late page', path: `/v3/users?${ever}&perPage=1000&page=${late(users)}` },
    { name: 'groups: search, late page', path: `/v3/groups?searchKey=s&perPage=1000&page=${late(groups)}` },
    {
      name: 'members: search, late page',
      path: `/v3/groups/crowd/members?searchKey=a&perPage=1000&page=${late(crowd)}`,
    },
    { name: 'messages of a group: count of a letter', path: '/v3/groups/crowd/messages?searchKey=s&count=true' },
    { name: 'messages of a user: count of a frequent word', path: '/v3/messages?searchKey=station&count=true' },
    { name: 'messages of a user: search for what is not there', path: '/v3/messages?searchKey=zeppelin&limit=100' },
  ]
}
