"""The GraphQL documents that are sent to Linear."""

_FIELDS = """
id identifier title description url priority createdAt updatedAt
state { id name type } team { id key name } project { id name }
labels { nodes { name color } } assignee { id name displayName email }
"""
VIEWER = "query Viewer { viewer { id name displayName email } }"
ISSUES = f"""query Issues($filter: IssueFilter, $first: Int, $after: String) {{
  issues(filter: $filter, first: $first, after: $after, orderBy: updatedAt, includeArchived: false) {{
    nodes {{ {_FIELDS} }} pageInfo {{ hasNextPage endCursor }} }} }}"""
ISSUE = f"query Issue($id: String!) {{ issue(id: $id) {{ {_FIELDS} }} }}"
TEAM = "query Teams($key: String!) { teams(filter: { key: { eq: $key } }) { nodes { id key } } }"
STATES = """query States($id: String!) { issue(id: $id) { team { states(first: 100) {
  nodes { id name type position } } } } }"""
CREATE = f"""mutation Create($input: IssueCreateInput!) {{
  issueCreate(input: $input) {{ success issue {{ {_FIELDS} }} }} }}"""
UPDATE = f"""mutation Update($id: String!, $input: IssueUpdateInput!) {{
  issueUpdate(id: $id, input: $input) {{ success issue {{ {_FIELDS} }} }} }}"""
COMMENT = "mutation Comment($input: CommentCreateInput!) { commentCreate(input: $input) { success comment { id } } }"
A_COMMENT = "query Comment($id: String!) { comment(id: $id) { id } }"
