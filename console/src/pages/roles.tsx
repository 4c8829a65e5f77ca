import { Anchor, Button, Group, Text } from '@mantine/core'
import { type UseQueryResult, useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { memo, type ReactNode, useMemo, useState } from 'react'
import { featuresIn, type KnownRole, knownOf, type Permission, type Role, rolesIn } from '../questions.ts'
import { useApp, useCan } from '../shell/session.tsx'
import { useAct, useSave } from '../ui/act.tsx'
import { type Field, FormButton, FormDialog, type Values } from '../ui/Form.tsx'
import { countOf } from '../ui/figures.ts'
import { Page, Section } from '../ui/page.tsx'
import { Loaded, Loading, Problem } from '../ui/states.tsx'

const fields: readonly Field[] = [
  { name: 'name', label: 'Name', required: true },
  { name: 'description', label: 'Description', kind: 'long' },
  {
    name: 'listUsers',
    label: 'Users that they can list',
    kind: 'choice',
    options: [
      { value: 'all', label: 'all' },
      { value: 'friendsOnly', label: 'friends only' },
    ],
  },
  {
    name: 'sendMessagesTo',
    label: 'Users that they can write to',
    kind: 'choice',
    options: [
      { value: 'all', label: 'all' },
      { value: 'friendsOnly', label: 'friends only' },
    ],
  },
]

/** The fields of a form as the contract has them. */
function roleOf({ listUsers, sendMessagesTo, ...others }: Values): Values {
  const settings = {
    ...(listUsers !== undefined && { listUsers: listUsers || 'all' }),
    ...(sendMessagesTo !== undefined && { sendMessagesTo: sendMessagesTo || 'all' }),
  }
  return Object.keys(settings).length === 0 ? others : { ...others, settings }
}

/** Built-in roles cannot be deleted; the app's own have no @ in their IDs. */
const isBuiltIn = ({ role }: Role) => role === 'default' || role.startsWith('@')

const words = { all: 'all users', friendsOnly: 'friends only' }

type Outcomes = Readonly<Record<string, { readonly success?: boolean; readonly message?: string } | object>>

/** @throws what the service says about keys that it did not take */
function checkOutcomes(outcomes: Outcomes): void {
  const refused = Object.entries(outcomes).filter(([, one]) => 'success' in one && one.success === false)
  if (refused.length === 0) return
  throw new Error(refused.map(([key, one]) => ('message' in one ? one.message : undefined) ?? key).join('; '))
}

/** All that is known of roles, as soon as it is: a matrix that grew column by column would be drawn again with each. */
function gather(all: UseQueryResult<KnownRole>[]) {
  const failed = all.find(({ isError }) => isError)
  const isPending = all.some(({ isPending }) => isPending)
  const columns = isPending ? [] : all.flatMap(({ data }) => (data === undefined ? [] : [data]))
  return { columns, failed, isPending }
}

/** What the users of each role may do: one matrix of features, one of permissions. */
export function Roles() {
  const { appId, client } = useApp()
  const can = useCan()
  const act = useAct()
  const save = useSave()
  const roles = useQuery(rolesIn(appId))
  const { columns, failed, isPending } = useQueries({
    combine: gather,
    queries: (roles.data ?? []).map((role) => knownOf(appId, role)),
  })
  const refresh = [
    ['roles', appId],
    ['role', appId],
  ]
  const remove = ({ role, name }: Role) =>
    act({
      run: () => client.roles.delete({ role }),
      done: 'The role was deleted',
      refresh,
      question: {
        title: `Delete ${name}?`,
        text: 'Users who have it get the role default.',
        label: 'Delete',
        typed: role,
      },
    })
  return (
    <Page
      title="Roles"
      hint="What the users of each role may do, beside what the contract allows everybody."
      actions={
        can('configure') && (
          <FormButton
            button="Create a role"
            title="Create a role"
            fields={[{ name: 'role', label: 'ID', required: true }, ...fields]}
            onSubmit={(values) =>
              save({ run: () => client.roles.create(roleOf(values) as never), done: 'The role was created', refresh })
            }
          />
        )
      }
    >
      <Loaded query={roles}>
        {() => (
          <>
            {failed !== undefined && <Problem error={failed.error} onRetry={() => void failed.refetch()} />}
            {isPending ? (
              <Loading />
            ) : (
              <>
                <Section title="Roles">
                  <Matrix
                    label="Roles"
                    columns={columns}
                    rows={[
                      'ID',
                      'Description',
                      'Users',
                      'Can list',
                      'Can write to',
                      ...(can('configure') ? ['Actions'] : []),
                    ]}
                  >
                    {(row, { role, users }) => {
                      if (row === 'ID') return role.role
                      if (row === 'Description') return role.description
                      if (row === 'Can list') return words[role.settings?.listUsers ?? 'all']
                      if (row === 'Can write to') return words[role.settings?.sendMessagesTo ?? 'all']
                      if (row === 'Users')
                        return (
                          <Anchor
                            component={Link}
                            aria-label={`${countOf(users ?? 0, 'user')} with the role ${role.name}`}
                            to={`/apps/${encodeURIComponent(appId)}/users?role=${encodeURIComponent(role.role)}`}
                            size="sm"
                          >
                            {users}
                          </Anchor>
                        )
                      return (
                        <Group gap={4}>
                          <FormButton
                            button="Edit"
                            size="compact-xs"
                            variant="default"
                            title={`Edit ${role.name}`}
                            fields={fields}
                            initial={{ ...role, ...role.settings }}
                            changesOnly
                            onSubmit={(values) =>
                              save({
                                run: () => client.roles.update({ role: role.role, ...roleOf(values) }),
                                done: 'The role was changed',
                                refresh,
                              })
                            }
                          />
                          {!isBuiltIn(role) && (
                            <Button
                              size="compact-xs"
                              variant="light"
                              color="red"
                              aria-label={`Delete ${role.name}`}
                              onClick={() => void remove(role)}
                            >
                              Delete
                            </Button>
                          )}
                        </Group>
                      )
                    }}
                  </Matrix>
                </Section>
                <Features columns={columns} />
                <Permissions columns={columns} />
              </>
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}

/**
 * Rows by roles. An app can have dozens of roles, and a matrix then thousands of cells: they are elements of HTML, not components.
 */
function Matrix<Row extends string | { readonly id: string; readonly title: string; readonly description: string }>({
  label,
  columns,
  rows,
  children,
}: {
  readonly label: string
  readonly columns: readonly KnownRole[]
  readonly rows: readonly Row[]
  readonly children: (row: Row, column: KnownRole) => ReactNode
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keyboard, too
    <div className="matrix-place" tabIndex={0}>
      <table className="matrix" aria-label={label}>
        <thead>
          <tr>
            <td />
            {columns.map(({ role }) => (
              <th key={role.role} scope="col">
                {role.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={typeof row === 'string' ? row : row.id}>
              <th scope="row">
                {typeof row === 'string' ? row : row.title}
                {typeof row !== 'string' && <small>{row.description}</small>}
              </th>
              {columns.map((column) => (
                <td key={column.role.role}>{children(row, column)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface Columns {
  readonly columns: readonly KnownRole[]
}

/** Every feature, and for which roles it is restricted. */
const Features = memo(function Features({ columns }: Columns) {
  const { appId, client } = useApp()
  const mayChange = useCan()('configure')
  const act = useAct()
  const features = useQuery(featuresIn(appId))
  const change = (id: string, title: string, { role, restricted }: KnownRole) => {
    const isRestricted = restricted.some(({ key }) => key === id)
    const input = { role: role.role, featuresToRestrict: [id] }
    return act({
      run: async () => {
        if (isRestricted) await client.roles.restrictedFeatures.remove({ role: role.role, featuresToAllow: [id] })
        else checkOutcomes(await client.roles.restrictedFeatures.add(input))
      },
      done: isRestricted ? `${title}: allowed for ${role.name}` : `${title}: restricted for ${role.name}`,
      refresh: [['role', appId, role.role]],
    })
  }
  return (
    <Section title="Restricted features">
      <Text size="sm" c="dimmed">
        What is {mayChange ? 'checked' : 'restricted'}, users with the role may not do. The app itself always may.
      </Text>
      <Loaded query={features}>
        {(features) => (
          <Matrix
            label="Restricted features"
            columns={columns}
            rows={features.map(({ key, title, description, path }) => ({
              id: key,
              title,
              description: `${description}. ${path}`,
            }))}
          >
            {({ id, title }, column) => {
              const isRestricted = column.restricted.some(({ key }) => key === id)
              if (!mayChange) return isRestricted ? <b>restricted</b> : 'allowed'
              return (
                <input
                  type="checkbox"
                  aria-label={`${title}: restricted for ${column.role.name}`}
                  checked={isRestricted}
                  onChange={() => void change(id, title, column)}
                />
              )
            }}
          </Matrix>
        )}
      </Loaded>
    </Section>
  )
})

/** What the dialog is about, which stays in it while it closes. */
interface Edited {
  readonly permission: Permission
  readonly role: Role
  readonly isOpen: boolean
}

/** Permissions, each with its value for each role. */
const Permissions = memo(function Permissions({ columns }: Columns) {
  const { appId, client } = useApp()
  const mayChange = useCan()('configure')
  const save = useSave()
  const act = useAct()
  const [edited, setEdited] = useState<Edited>()
  const refreshOf = (role: string) => [['role', appId, role]]
  // Nothing in it changes while the dialog is open.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the client is that of the app
  const matrix = useMemo(
    () => (
      <Matrix
        label="Permissions"
        columns={columns}
        rows={(columns[0]?.permissions ?? []).map(({ id, title, description }) => ({
          ...{ id, title, description: description.replace(`${title}. `, '') },
        }))}
      >
        {({ id, title }, { role, permissions }) => {
          const permission = permissions.find((one) => one.id === id)
          if (permission === undefined) return null
          const isSet = permission.value !== undefined
          const shown = [permission.value ?? permission.defaultValue].flat().join(', ') || 'none'
          if (!mayChange) return isSet ? <b>{shown}</b> : shown
          return (
            <>
              <button
                type="button"
                className={isSet ? 'value value-set' : 'value'}
                aria-label={`${title}, of ${role.name}: ${shown}`}
                onClick={() => setEdited({ permission, role, isOpen: true })}
              >
                {shown}
              </button>
              {isSet && (
                <button
                  type="button"
                  className="value-unset"
                  aria-label={`${title}, of ${role.name}: as by default`}
                  onClick={() =>
                    void act({
                      run: () => client.roles.permissions.unset({ role: role.role, permission: id }),
                      done: 'The permission is as by default',
                      of: `${role.role} ${id}`,
                      refresh: refreshOf(role.role),
                    })
                  }
                >
                  ×
                </button>
              )}
            </>
          )
        }}
      </Matrix>
    ),
    [columns, mayChange, appId, act],
  )
  return (
    <Section title="Permissions">
      <Text size="sm" c="dimmed">
        Values that are set for a role stand out; the others are as by default.
      </Text>
      {matrix}
      {edited !== undefined && (
        <FormDialog
          title={`${edited.permission.title}, of ${edited.role.name}`}
          isOpen={edited.isOpen}
          onClose={() => setEdited({ ...edited, isOpen: false })}
          fields={[
            fieldOf(
              edited.permission,
              columns.map(({ role }) => role.role),
            ),
          ]}
          initial={{ value: edited.permission.value ?? edited.permission.defaultValue }}
          onSubmit={({ value }) => {
            const { role } = edited.role
            const permissions = { [edited.permission.id]: value }
            return save({
              run: async () => checkOutcomes(await client.roles.permissions.set({ role, permissions })),
              done: 'The permission was changed',
              refresh: refreshOf(role),
            })
          }}
        />
      )}
    </Section>
  )
})

/** What a permission is changed by. @param roles IDs of those that there are */
function fieldOf({ title, description, dataType, availableValues }: Permission, roles: readonly string[]): Field {
  return {
    name: 'value',
    label: title,
    hint: description.replace(`${title}. `, ''),
    kind: dataType === 'string' ? 'choice' : dataType === 'customStringArray' ? 'tags' : 'choices',
    options: dataType === 'rolesStringArray' ? roles : availableValues,
    required: dataType === 'string',
  }
}
