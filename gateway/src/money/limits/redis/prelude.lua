-- What every script begins with.

-- Microseconds. `given` is for tests; '' else.
local function clock(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

local function whole(number)
  return string.format('%d', number)
end
